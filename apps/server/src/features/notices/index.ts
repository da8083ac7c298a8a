export { type Notice, noticeRecord } from "./notice.ts";
export { type Notices, openNotices } from "./open-notices.ts";
export { type NoticeSearch, startNoticeSearch } from "./start-search.ts";
export { deleteNotices } from "./store.ts";
