import { managementPage } from "../../account-queries.ts";
import {
  addMemberBody,
  changeMemberBody,
  createTeamBody,
  memberRecord,
  teamRecord,
  teamUsageQuery,
  teamUsageRecord,
} from "../../teams.ts";
import { groupOf } from "../operation.ts";

export const teamGroup = groupOf("/api/v2", {
  tag: "Teams",
  description:
    "Owners of models, agents, money and keys whose members act for them: send `X-Gantry-Team` with your own key, or use a key of the team. For keys without limits.",
  fails: [403],
  operations: {
    listTeams: {
      method: "get",
      path: "/teams",
      summary: "List your teams",
      description: "By name, without closed teams.",
      answer: teamRecord,
      list: "results",
      query: managementPage,
    },
    createTeam: {
      method: "post",
      path: "/teams",
      summary: "Create a team",
      description:
        "You become its owner. The team has no balance and the plan `free`. Only for admins, unless the service lets everyone create teams (`GANTRY_TEAM_CREATION`).",
      body: createTeamBody,
      example: { name: "lab" },
      answer: teamRecord,
      status: 201,
      fails: [404, 409],
    },
    readTeam: {
      method: "get",
      path: "/teams/{team}",
      summary: "Read a team",
      answer: teamRecord,
    },
    closeTeam: {
      method: "delete",
      path: "/teams/{team}",
      summary: "Close a team",
      description:
        "Only for owners. The balance must be zero and nothing may run. The team's keys stop working, its members cannot act for it, and its models and agents are hidden. Only an admin of the service can reopen it.",
      status: 204,
      fails: [409],
    },
    listMembers: {
      method: "get",
      path: "/teams/{team}/members",
      summary: "List the members of a team",
      description: "By username.",
      answer: memberRecord,
      list: "results",
      query: managementPage,
    },
    addMember: {
      method: "post",
      path: "/teams/{team}/members",
      summary: "Add a member to a team",
      description: "Only for admins and owners. The person can leave at any time.",
      body: addMemberBody,
      example: { username: "anna", role: "member", monthly_limit: 20 },
      answer: memberRecord,
      status: 201,
      fails: [409],
    },
    readMember: {
      method: "get",
      path: "/teams/{team}/members/{username}",
      summary: "Read a member of a team",
      answer: memberRecord,
    },
    changeMember: {
      method: "patch",
      path: "/teams/{team}/members/{username}",
      summary: "Change the role or the budget of a member",
      description:
        "Only for admins and owners. The budget bounds everything that the member does for the team, with all its keys. It applies from the next request.",
      body: changeMemberBody,
      example: { role: "admin" },
      answer: memberRecord,
      fails: [409],
    },
    removeMember: {
      method: "delete",
      path: "/teams/{team}/members/{username}",
      summary: "Remove a member from a team, or leave it",
      description:
        "The member's keys of the team are revoked. Its running work ends normally; its schedules and triggers pause. One owner always remains.",
      status: 204,
      fails: [409],
    },
    readTeamUsage: {
      method: "get",
      path: "/teams/{team}/usage",
      summary: "Read the usage of a team by member",
      description: "The highest spending first. A plain member sees only its own.",
      answer: teamUsageRecord,
      list: "results",
      query: teamUsageQuery,
    },
  },
});
