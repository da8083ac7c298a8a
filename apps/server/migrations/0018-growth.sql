-- Costs that grew with the number of models.

-- Creating a model looks for an earlier one of the same name, retired or not.
create index models_named on models (owner_id, name);

-- Searched for words that name and title do not contain. Reading them from the manifest parses all of it.
alter table models
  add column search_description text generated always as (lower(manifest ->> 'description')) stored;
