/** What can be done with files: choose, map, evaluate, follow, stop. */

import * as api from "./api.js";
import { FIELDS, columnsOf, mapping } from "./columns.js";
import { NO_UPLOAD } from "./state.js";
import * as files from "./upload_api.js";
import { refusal } from "./view/upload.js";

/** @import * as S from "./state.js" */

/**
 * @param {ReturnType<typeof import("./store.js").createStore<S.State>>} store
 */
export function uploadActions({ get, set }) {
  /** @type {Set<string>} */
  const followed = new Set();

  /** @param {Partial<S.UploadDraft>} change */
  const change = (change) => set(({ upload }) => ({ upload: { ...upload, ...change } }));

  /** @param {S.UploadStatus} status */
  function show(status) {
    set(({ uploads }) => ({
      uploads: uploads.some((one) => one.id === status.id)
        ? uploads.map((one) => (one.id === status.id ? status : one))
        : [status, ...uploads],
    }));
  }

  /** @param {string} id */
  async function follow(id) {
    if (followed.has(id)) return;
    followed.add(id);
    try {
      for await (const status of files.followUpload(id)) show(status);
      const state = get().uploads.find((one) => one.id === id)?.state;
      set({ runs: await api.runs(), announcement: `The upload is ${state}` });
    } catch (error) {
      change({ problem: api.problemOf(error) });
    }
    followed.delete(id);
  }

  return {
    /** @param {File | null} file */
    async chooseFile(file) {
      if (!file) return;
      const columns = await columnsOf(file);
      const map = Object.fromEntries(FIELDS.map((name) => [name, columns.includes(name) ? name : ""]));
      set({ upload: { file, columns, map, problem: null } });
    },
    /** @param {string} name @param {string} column */
    mapColumn: (name, column) => change({ map: { ...get().upload.map, [name]: column } }),
    async upload() {
      const { upload, options, draft } = get();
      if (!upload.file || refusal(upload, options) !== null) return;
      try {
        const status = await files.upload(upload.file, mapping(upload.map), draft.settings);
        show(status);
        set({ upload: NO_UPLOAD, announcement: `Evaluating ${status.name}` });
        void follow(status.id);
      } catch (error) {
        change({ problem: api.problemOf(error) });
      }
    },
    /** @param {string} id */
    async stopUpload(id) {
      try {
        show(await files.stopUpload(id));
      } catch (error) {
        change({ problem: api.problemOf(error) });
      }
    },
    /** @param {string} id */
    async resumeUpload(id) {
      try {
        show(await files.resumeUpload(id));
        void follow(id);
      } catch (error) {
        change({ problem: api.problemOf(error) });
      }
    },
    /** Go on telling where those are that are not over. */
    followAll() {
      for (const one of get().uploads) {
        if (one.state === "waiting" || one.state === "running") void follow(one.id);
      }
    },
  };
}
