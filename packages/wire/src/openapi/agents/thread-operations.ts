import { threadDetails, threadQuery, threadRecord, threadsQuery } from "../../threads.ts";
import { groupOf } from "../operation.ts";

export const threadGroup = groupOf("/v1", {
  tag: "Threads",
  description:
    "A thread is a conversation with an agent: runs with the same `thread_id`. Each run gets the earlier turns, and runs of a thread run one at a time, in the order of their creation.",
  operations: {
    listThreads: {
      method: "get",
      path: "/threads",
      summary: "List your threads",
      description: "Those with the newest run first.",
      answer: threadRecord,
      list: "threads",
      query: threadsQuery,
    },
    readThread: {
      method: "get",
      path: "/threads/{thread_id}",
      summary: "Read a thread with its turns",
      answer: threadDetails,
      query: threadQuery,
    },
    deleteThread: {
      method: "delete",
      path: "/threads/{thread_id}",
      summary: "Delete a thread and its runs",
      description: "Charges stay in the ledger. While a run of the thread has not ended, the answer is 409.",
      status: 204,
      fails: [409],
    },
  },
});
