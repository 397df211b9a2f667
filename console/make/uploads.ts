import { signal } from '@preact/signals';
import { ApiError, GenerationServiceError } from '../../packages/client/src/index.ts';
import type { Model, NewUpload, Upload } from '../../packages/client/src/types.ts';
import { capitalized } from '../parts/texts.ts';
import { announce } from '../state/notices.ts';
import { requiredClient } from '../state/session.ts';
import { addFile } from './drafts.ts';
import { contentTypeOf, type LocalFacts, localProblem, type Medium } from './file-rules.ts';
import type { FormField } from './form-rules.ts';
import { measure } from './measure.ts';

/** A field of a model's form. */
export interface UploadTarget {
  model: Model;
  field: FormField;
}

/** A file on its way to a field, or one that the field cannot take. */
export interface PendingUpload {
  id: number;
  model: string;
  path: string;
  name: string;
  /** What is shown of it meanwhile. */
  preview: string;
  /** The part that is sent, from 0 to 1. */
  sent: number;
  /** Why it is refused. It is not sent any more then. */
  problem?: string;
}

/** The files on their way. They go on while other pages are shown. */
export const pendingUploads = signal<readonly PendingUpload[]>([]);
const aborts = new Map<number, AbortController>();
let lastId = 0;

/** A file that the user chose in this page: its name, and an object URL of its bytes. */
export interface GivenFile {
  name: string;
  preview: string;
}
/** Files chosen since the page was loaded, by the upload URL that names the file in a request. */
export const givenFiles = new Map<string, GivenFile>();

const change = (id: number, values: Partial<PendingUpload>): void => {
  pendingUploads.value = pendingUploads.value.map((one) => (one.id === id ? { ...one, ...values } : one));
};

/** Takes a file off the list: it is sent, or not wanted any more. */
export const dropUpload = (id: number): void => {
  aborts.get(id)?.abort();
  aborts.delete(id);
  pendingUploads.value = pendingUploads.value.filter((one) => one.id !== id);
};

/** Checks a file, sends it to the storage, and fills the field with the URL that names it. Nothing rejects: the file says what is wrong. */
const giveFile = async (file: File, { model, field }: UploadTarget): Promise<void> => {
  lastId += 1;
  const [id, stop] = [lastId, new AbortController()];
  const isList = field.control === 'files';
  const preview = URL.createObjectURL(file);
  const others = pendingUploads.value.filter(
    (one) => isList || one.model !== model.id || one.path !== field.path,
  );
  const entry = { id, model: model.id, path: field.path, name: file.name, preview, sent: 0 };
  pendingUploads.value = [...others, entry];
  aborts.set(id, stop);
  try {
    const problem = await send(file, { model, field }, { id, stop: stop.signal, preview });
    if (problem === undefined) dropUpload(id);
    else change(id, { problem });
  } catch (error) {
    if (stop.signal.aborted) return;
    if (!(error instanceof GenerationServiceError)) throw error;
    change(id, { problem: refusalOf(error) });
  }
};

/** Gives each of these files to a field: all to a list, else the first one. */
export const giveFiles = (files: readonly File[], target: UploadTarget): void => {
  for (const file of target.field.control === 'files' ? files : files.slice(0, 1)) giveFile(file, target);
};

interface Sending {
  id: number;
  stop: AbortSignal;
  preview: string;
}

const send = async (
  file: File,
  { model, field }: UploadTarget,
  { id, stop, preview }: Sending,
): Promise<string | undefined> => {
  const medium = field.medium as Medium;
  const contentType = contentTypeOf(file);
  const facts: LocalFacts = {
    contentType,
    sizeBytes: file.size,
    ...(await measure(file, preview, contentType)),
  };
  const problem = localProblem(facts, medium, model.inputs?.[medium]);
  if (problem !== undefined) return `${file.name} ${problem}`;
  const body = { contentType, bytes: file.size } as NewUpload;
  const upload = await requiredClient().createUpload(body, { signal: stop });
  const refusal = await post(file, upload, stop, (sent) => change(id, { sent }));
  if (refusal !== undefined) return refusal;
  givenFiles.set(upload.url, { name: file.name, preview });
  addFile(model.id, field.path, upload.url, field.control === 'files');
  announce(`${file.name} is uploaded.`);
  return undefined;
};

/** The service's refusal of an upload, as a sentence: what it says of the type or size, else its message. */
const refusalOf = (error: GenerationServiceError): string => {
  const [said] = error instanceof ApiError ? Object.values(error.fields ?? {}) : [];
  return said === undefined ? error.message : capitalized(said);
};

/** Sends the form of an upload, and tells how much of it is sent: `fetch` does not. Resolves to why it was refused. */
const post = (
  file: File,
  { upload: { url, fields } }: Upload,
  stop: AbortSignal,
  onSent: (part: number) => void,
): Promise<string | undefined> =>
  new Promise((resolve) => {
    const form = new FormData();
    for (const [name, value] of Object.entries(fields)) form.append(name, value);
    form.append('file', file);
    const request = new XMLHttpRequest();
    request.upload.onprogress = ({ loaded, total }) => onSent(loaded / Math.max(total, 1));
    request.onload = () =>
      resolve(request.status < 300 ? undefined : `The storage refused ${file.name} (${request.status}).`);
    request.onerror = () => resolve(`${file.name} could not be sent: the storage could not be reached.`);
    request.onabort = () => resolve(`${file.name} was not sent.`);
    stop.addEventListener('abort', () => request.abort());
    request.open('POST', url);
    request.send(form);
  });
