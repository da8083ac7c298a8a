import type { AgentSetup, NewAgent } from "@gantry/sdk";
import carefulCaller from "../../../../examples/agents/careful-caller.json" with { type: "json" };
import dailyBriefing from "../../../../examples/agents/daily-briefing.json" with { type: "json" };
import dailyBriefingSetup from "../../../../examples/agents/daily-briefing.setup.json" with { type: "json" };
import dataAnalyst from "../../../../examples/agents/data-analyst.json" with { type: "json" };
import dataAnalystSetup from "../../../../examples/agents/data-analyst.setup.json" with { type: "json" };
import documentAnswers from "../../../../examples/agents/document-answers.json" with { type: "json" };
import documentAnswersSetup from "../../../../examples/agents/document-answers.setup.json" with { type: "json" };
import illustrator from "../../../../examples/agents/illustrator.json" with { type: "json" };
import issueTriage from "../../../../examples/agents/issue-triage.json" with { type: "json" };
import issueTriageSetup from "../../../../examples/agents/issue-triage.setup.json" with { type: "json" };
import pageReader from "../../../../examples/agents/page-reader.json" with { type: "json" };
import personalAssistant from "../../../../examples/agents/personal-assistant.json" with { type: "json" };
import personalAssistantSetup from "../../../../examples/agents/personal-assistant.setup.json" with { type: "json" };
import supportDesk from "../../../../examples/agents/support-desk.json" with { type: "json" };
import supportDeskSetup from "../../../../examples/agents/support-desk.setup.json" with { type: "json" };
import webResearcher from "../../../../examples/agents/web-researcher.json" with { type: "json" };

export interface Template {
  fields: NewAgent;
  /** Drives, a schedule or a trigger that are created with the agent. */
  setup?: AgentSetup;
}

/** The examples of the repository, which the console offers too. Imports make them a part of the package. */
export const templates = {
  "careful-caller": { fields: carefulCaller },
  "daily-briefing": { fields: dailyBriefing, setup: dailyBriefingSetup },
  "data-analyst": { fields: dataAnalyst, setup: dataAnalystSetup },
  "document-answers": { fields: documentAnswers, setup: documentAnswersSetup },
  illustrator: { fields: illustrator },
  "issue-triage": { fields: issueTriage, setup: issueTriageSetup },
  "page-reader": { fields: pageReader },
  "personal-assistant": { fields: personalAssistant, setup: personalAssistantSetup },
  "support-desk": { fields: supportDesk, setup: supportDeskSetup },
  "web-researcher": { fields: webResearcher },
} as unknown as Readonly<Record<string, Template>>;
