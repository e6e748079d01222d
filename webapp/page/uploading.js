/** The actions on files: choose, map columns, evaluate, follow, stop, delete. */

import * as api from "./api.js";
import { placeInList } from "./dom.js";
import { sentOf } from "./settings.js";
import { refusalOf } from "./view/upload.js";

/** @import * as S from "./state.js" */

/**
 * @param {S.Store} store
 * @param {{
 *   edit: (change: Partial<S.Draft>) => void,
 *   go: (place: Partial<S.Place>, more?: Partial<S.State>) => void,
 *   undoable: (text: string, undo: () => unknown) => void,
 * }} others  actions of the page that those on files use
 */
export function uploadActions({ get, set }, { edit, go, undoable }) {
  /** @type {Set<string>} */
  const followed = new Set();
  let chosen = 0;

  /** Change the files, or what went wrong. @param {Partial<S.UploadDraft>} change */
  const change = (change) => set(({ upload }) => ({ upload: { ...upload, ...change } }));

  /** @param {number} key @param {Partial<S.FileDraft>} more */
  const changeFile = (key, more) => change({ files: get().upload.files.map((draft) => (draft.key === key ? { ...draft, ...more } : draft)) });

  /** @param {number} key */
  const removeFile = (key) => change({ files: get().upload.files.filter((draft) => draft.key !== key) });

  /** Run an action, and show its error if it fails. @param {() => Promise<void>} work */
  const attempt = (work) => work().catch((error) => change({ problem: api.problemOf(error) }));

  /** Run an action on a file, and show its error beside it. @param {number} key @param {() => Promise<void>} work */
  const attemptOnFile = (key, work) => work().catch((error) => changeFile(key, { sent: null, problem: api.problemOf(error) }));

  /** @param {S.UploadStatus} status */
  function show(status) {
    const { uploads } = get();
    const others = uploads.filter(({ id }) => id !== status.id);
    if (status.state === "deleted") set({ uploads: others });
    else if (others.length === uploads.length) set({ uploads: [status, ...uploads] });
    else set({ uploads: uploads.map((upload) => (upload.id === status.id ? status : upload)) });
  }

  /** @param {string} id */
  async function follow(id) {
    if (followed.has(id)) return;
    followed.add(id);
    await attempt(async () => {
      for await (const { data } of api.followUpload(id)) show(data);
      const state = get().uploads.find((upload) => upload.id === id)?.state;
      set({ runs: await api.runs(true), announcement: `The upload is ${state}` });
    });
    followed.delete(id);
  }

  /** Send a file, and follow its evaluation. @param {S.FileDraft} draft */
  async function send({ key, file, fields }) {
    const { options, draft } = get();
    changeFile(key, { sent: 0, problem: null });
    // The value of `--map`: columns whose name differs from the field's.
    const renamed = Object.entries(fields).filter(([field, column]) => column && column !== field);
    const map = renamed.map(([field, column]) => `${field}=${column}`).join(",");
    const settings = options ? sentOf(options, draft.settings) : draft.settings;
    const status = await api.upload(file, map, settings, (sent) => changeFile(key, { sent }));
    show(status);
    removeFile(key);
    set({ announcement: `Evaluating ${file.name}` });
    void follow(status.id);
  }

  /** @param {File[]} files */
  function chooseFiles(files) {
    const unread = { kind: "", columns: [], fields: {}, refused: "", is_text: false, sent: null, problem: null };
    const drafts = files.map((file) => ({ ...unread, file, key: ++chosen }));
    go({ view: "runs" }, { upload: { files: [...get().upload.files, ...drafts], problem: null } });
    for (const { file, key } of drafts) {
      void attemptOnFile(key, async () => {
        const recognised = await api.recognise(file);
        changeFile(key, recognised);
        if (recognised.refused) set({ announcement: `${file.name}: ${recognised.refused}` });
      });
    }
  }

  return {
    chooseFiles,
    /** @param {number} key */
    removeFile(key) {
      const goOn = placeInList();
      removeFile(key);
      void goOn();
    },
    /** Open the browser's window to choose files. */
    pickFiles() {
      const input = Object.assign(document.createElement("input"), { type: "file", multiple: true });
      input.onchange = () => chooseFiles([...(input.files ?? [])]);
      input.click();
    },
    /** @param {S.FileDraft} draft @param {string} field @param {string} column */
    mapColumn: ({ key, fields }, field, column) => changeFile(key, { fields: { ...fields, [field]: column } }),
    /** Take a file with a text into the form. @param {S.FileDraft} draft */
    async checkFile({ key, file }) {
      const { draft } = get();
      edit({ text: await file.text() });
      removeFile(key);
      go({ view: "check" }, { editing: true });
      if (draft.text) undoable(`The text is that of ${file.name} now`, () => edit(draft));
    },
    /** Send the files that can be evaluated, one after the other. */
    async upload() {
      const { upload, options } = get();
      for (const draft of upload.files) {
        if (draft.sent === null && refusalOf(draft, options) === "") await attemptOnFile(draft.key, () => send(draft));
      }
    },
    /** @param {string} id */
    stopUpload: (id) => attempt(async () => show(await api.stopUpload(id))),
    /** @param {S.UploadStatus} upload */
    deleteUpload: ({ id, name }) =>
      attempt(async () => {
        const goOn = placeInList();
        show(await api.stopUpload(id));
        void goOn();
        undoable(`Deleted ${name}`, async () => {
          await api.againUpload(id, "restore");
          set({ uploads: await api.uploads() });
        });
      }),
    /** @param {string} id */
    resumeUpload: (id) =>
      attempt(async () => {
        show(await api.againUpload(id, "resume"));
        void follow(id);
      }),
    /** Follow all unfinished uploads. */
    followAll() {
      for (const upload of get().uploads) {
        if (upload.state === "waiting" || upload.state === "running") void follow(upload.id);
      }
    },
  };
}
