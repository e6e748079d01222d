/** The actions on files: choose, map columns, evaluate, follow, stop. */

import * as api from "./api.js";
import { sentOf } from "./settings.js";
import { HOME, NO_UPLOAD } from "./state.js";
import { refusal } from "./view/upload.js";

/** @import * as S from "./state.js" */

/** @param {S.Store} store */
export function uploadActions({ get, set }) {
  /** @type {Set<string>} */
  const followed = new Set();

  /** @param {Partial<S.UploadDraft>} change */
  const change = (change) => set(({ upload }) => ({ upload: { ...upload, ...change } }));

  /** Run an action, and show its error if it fails. @param {() => Promise<void>} work */
  const tried = (work) => work().catch((error) => change({ problem: api.problemOf(error) }));

  /** @param {S.UploadStatus} status */
  function show(status) {
    const { uploads } = get();
    const others = uploads.filter(({ id }) => id !== status.id);
    if (status.state === "deleted") set({ uploads: others });
    else if (others.length === uploads.length) set({ uploads: [status, ...uploads] });
    else set({ uploads: uploads.map((one) => (one.id === status.id ? status : one)) });
  }

  /** @param {string} id */
  async function follow(id) {
    if (followed.has(id)) return;
    followed.add(id);
    await tried(async () => {
      for await (const { data } of api.followUpload(id)) show(data);
      const state = get().uploads.find((one) => one.id === id)?.state;
      set({ runs: await api.runs(true), announcement: `The upload is ${state}` });
    });
    followed.delete(id);
  }

  return {
    /** @param {File | null} file */
    chooseFile: (file) =>
      tried(async () => {
        if (!file) return;
        set({ place: { ...HOME, view: "runs" }, problem: null, upload: { ...NO_UPLOAD, file } });
        const { columns, fields } = await api.columnsOf(file);
        set({ upload: { file, columns, map: fields, problem: null } });
      }),
    /** @param {string} name @param {string} column */
    mapColumn: (name, column) => change({ map: { ...get().upload.map, [name]: column } }),
    upload: () =>
      tried(async () => {
        const { upload, options, draft } = get();
        if (!upload.file || refusal(upload, options) !== null) return;
        // The value of `--map`: columns whose name differs from the field's.
        const renamed = Object.entries(upload.map).filter(([field, column]) => column && column !== field);
        const map = renamed.map(([field, column]) => `${field}=${column}`).join(",");
        const settings = options ? sentOf(options, draft.settings) : draft.settings;
        const status = await api.upload(upload.file, map, settings);
        show(status);
        set({ upload: NO_UPLOAD, announcement: `Evaluating ${status.name}` });
        void follow(status.id);
      }),
    /** @param {string} id */
    stopUpload: (id) => tried(async () => show(await api.stopUpload(id))),
    /** @param {string} id */
    resumeUpload: (id) =>
      tried(async () => {
        show(await api.resumeUpload(id));
        void follow(id);
      }),
    /** Follow all unfinished uploads. */
    followAll() {
      for (const one of get().uploads) {
        if (one.state === "waiting" || one.state === "running") void follow(one.id);
      }
    },
  };
}
