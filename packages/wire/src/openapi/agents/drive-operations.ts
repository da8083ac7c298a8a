import { deleteQuery, itemsQuery, listQuery } from "../../agents-queries.ts";
import { createDriveBody, driveFileRecord, driveItemList, driveRecord } from "../../drives.ts";
import { groupOf } from "../operation.ts";

const conditional = ["If-Match", "If-None-Match"] as const;
const download = {
  headers: ["Range", "If-Range", ...conditional],
  also: [206, 304],
  fails: [416],
} as const;

export const driveGroup = groupOf("/v1", {
  tag: "Drives",
  description: "Files shared by you and your agents. Not for keys limited to models.",
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
      description: "If agents use the drive, the request is refused and `details` lists them, unless `force` is true.",
      status: 204,
      query: deleteQuery,
      fails: [409],
    },
    uploadDriveFile: {
      method: "post",
      path: "/drives/{drive_id}/files",
      summary: "Upload a new file",
      description: "At most 100 MB. Directories are created as needed.",
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
      answer: { media: "application/octet-stream", description: "The bytes, with the content type of the file." },
      ...download,
    },
    inspectDriveFile: {
      method: "head",
      path: "/drives/{drive_id}/files/{path}",
      summary: "Read the headers of a file",
      ...download,
    },
    replaceDriveFile: {
      method: "put",
      path: "/drives/{drive_id}/files/{path}",
      summary: "Replace a file",
      description: "At most 100 MB. Downloads in progress continue with the old version.",
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
      description: "Direct children only.",
      answer: driveItemList,
      query: itemsQuery,
    },
    deleteDriveTree: {
      method: "delete",
      path: "/drives/{drive_id}/tree/{path}",
      summary: "Delete a directory and its content",
      status: 204,
      fails: [400],
    },
  },
});
