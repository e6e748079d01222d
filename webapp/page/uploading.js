/** What can be done with files: choose, map, evaluate, follow, stop. */

import * as api from "./api.js";
import { HOME, NO_UPLOAD } from "./state.js";
import * as files from "./upload_api.js";
import { refusal } from "./view/upload.js";

/** @import * as S from "./state.js" */

/**
 * Return what `--map` takes: the columns that are called otherwise than the field.
 *
 * @param {Record<string, string>} chosen  field to column
 */
function mapping(chosen) {
  const renamed = Object.entries(chosen).filter(([field, column]) => column && column !== field);
  return renamed.map(([field, column]) => `${field}=${column}`).join(",");
}

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
    set(({ uploads }) => {
      const others = uploads.filter(({ id }) => id !== status.id);
      if (status.state === "deleted") return { uploads: others };
      const known = others.length < uploads.length;
      return { uploads: known ? uploads.map((one) => (one.id === status.id ? status : one)) : [status, ...uploads] };
    });
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
      set({ place: { ...HOME, view: "runs" }, problem: null });
      try {
        const { columns, fields } = await files.columnsOf(file);
        set({ upload: { file, columns, map: fields, problem: null } });
      } catch (error) {
        set({ upload: { file, columns: [], map: {}, problem: api.problemOf(error) } });
      }
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
