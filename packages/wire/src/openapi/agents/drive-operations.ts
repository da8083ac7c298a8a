import { deleteQuery, itemsQuery, listQuery } from "../../agents-queries.ts";
import { createDriveBody, driveFileRecord, driveItemList, driveRecord } from "../../drives.ts";
import { groupOf } from "../operation.ts";

/** A write of a file can demand something of the version that it meets. */
const conditional = ["If-Match", "If-None-Match"] as const;
const download = {
  headers: ["Range", "If-Range", ...conditional],
  also: [206, 304],
  fails: [416],
} as const;

export const driveGroup = groupOf("/v1", {
  tag: "Drives",
  description: "Folders of files that you and your agents share. Not for keys limited to models.",
  fails: [403],
  operations: {
    createDrive: {
      method: "post",
      path: "/drives",
      summary: "Create a drive",
      body: createDriveBody,
      example: { name: "reports" },
      answer: driveRecord,
      status: 201,
    },
    listDrives: {
      method: "get",
      path: "/drives",
      summary: "List your drives",
      description: "Newest first.",
      answer: driveRecord,
      list: "drives",
      query: listQuery,
    },
    readDrive: { method: "get", path: "/drives/{drive_id}", summary: "Read a drive", answer: driveRecord },
    deleteDrive: {
      method: "delete",
      path: "/drives/{drive_id}",
      summary: "Delete a drive and its files",
      description: "One that agents use is refused, and named in `details`, unless `force` is true.",
      status: 204,
      query: deleteQuery,
      fails: [409],
    },
    uploadDriveFile: {
      method: "post",
      path: "/drives/{drive_id}/files",
      summary: "Upload a new file",
      description: "100 MB at most. Directories come with their files.",
      body: "upload",
      answer: driveFileRecord,
      status: 201,
      headers: conditional,
      fails: [409],
    },
    downloadDriveFile: {
      method: "get",
      path: "/drives/{drive_id}/files/{path}",
      summary: "Download a file",
      answer: { media: "application/octet-stream", description: "The bytes, under the content type of the file." },
      ...download,
    },
    inspectDriveFile: {
      method: "head",
      path: "/drives/{drive_id}/files/{path}",
      summary: "What a download would say",
      ...download,
    },
    replaceDriveFile: {
      method: "put",
      path: "/drives/{drive_id}/files/{path}",
      summary: "Replace a file",
      description: "100 MB at most. Readers of the old version read it to its end.",
      body: "file",
      answer: driveFileRecord,
      headers: conditional,
      fails: [409],
    },
    deleteDriveFile: {
      method: "delete",
      path: "/drives/{drive_id}/files/{path}",
      summary: "Delete a file",
      status: 204,
      headers: conditional,
    },
    listDriveItems: {
      method: "get",
      path: "/drives/{drive_id}/items",
      summary: "List a directory",
      description: "What stands directly in it.",
      answer: driveItemList,
      query: itemsQuery,
    },
    deleteDriveTree: {
      method: "delete",
      path: "/drives/{drive_id}/tree/{path}",
      summary: "Delete a directory with everything under it",
      status: 204,
      fails: [400],
    },
  },
});
