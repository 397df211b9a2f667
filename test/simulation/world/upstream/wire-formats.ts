import type { Made } from '../../evidence/evidence.ts';
import { FILE_HOST, type HttpAnswer, jsonAnswer } from './http.ts';

/** What becomes of a request at its provider; named in its prompt. */
export const BEHAVIOURS = [
  'works',
  'instant',
  'slow',
  'refused',
  'broken',
  'busy',
  'never',
  'gone',
  'one-file-missing',
  'no-files',
  'fewer',
  'more',
  'slow-files',
  'flaky-files',
  'large-files',
  // Its state is another with each query; its id is that of other tasks; answers of 200 that are no JSON, to the call or to queries.
  'wavers',
  'same-id',
  'no-json',
  'no-json-state',
] as const;
export type Behaviour = (typeof BEHAVIOURS)[number];

/** How a provider calls back about a task; named in the prompt too. */
export const CALLBACKS = ['once', 'twice', 'off', 'late', 'early'] as const;
export type CallbackMode = (typeof CALLBACKS)[number];

/** The prompt of a creation: its marker, the provider's behaviour and the callback mode. */
export const promptOf = (marker: string, behaviour: Behaviour, callback: CallbackMode): string =>
  `${marker} [${behaviour}] [${callback}]`;

const PROMPT = /^(\S+) \[(\S+)\] \[(\S+)\]$/;

export const readPrompt = (prompt: string) => {
  const [, marker = '', behaviour, callback] = PROMPT.exec(prompt) ?? [];
  return { marker, behaviour: behaviour as Behaviour, callback: callback as CallbackMode };
};

/** A task as its provider knows it. */
export interface Task {
  id: string;
  marker: string;
  behaviour: Behaviour;
  wire: 'ark' | 'studio' | 'fal';
  images: number;
  video: boolean;
  /** The secret with the key that it was created with. */
  account: string;
  createdAt: number;
  doneAt: number;
}

export const arkTask = (task: Task, isDone: boolean, isFailed: boolean) => {
  if (!isDone) return { id: task.id, status: 'running' };
  if (isFailed) return { id: task.id, status: 'failed', error: { code: failureCode(task) } };
  return { id: task.id, status: 'succeeded', content: { video_url: urlsOf(task)[0] } };
};

export const studioTask = (task: Task, isDone: boolean, isFailed: boolean) => {
  if (!isDone) return { task_status: 'RUNNING' };
  if (isFailed) return { task_status: 'FAILED', code: failureCode(task) };
  if (task.video) return { task_status: 'SUCCEEDED', video_url: urlsOf(task)[0] };
  return { task_status: 'SUCCEEDED', choices: choicesOf(urlsOf(task)) };
};

export const failureCode = ({ behaviour, wire }: Task): string => {
  if (wire === 'fal') return behaviour === 'broken' ? 'internal_server_error' : 'content_policy_violation';
  if (behaviour === 'broken') return 'InternalError';
  return wire === 'ark' ? 'OutputVideoSensitiveContentDetected' : 'DataInspectionFailed';
};

export const choicesOf = (urls: readonly string[]) =>
  urls.map((image) => ({ message: { content: [{ image }] } }));

/** Each wire format has a place of its own for the prompt. */
export const promptIn = (body: Record<string, unknown>): string => {
  if (typeof body.prompt === 'string') return body.prompt;
  const { input, content } = body as {
    input?: { prompt?: string; messages?: { content: { text?: string }[] }[] };
    content?: { text?: string }[];
  };
  const parts = content ?? input?.messages?.[0]?.content ?? [];
  return input?.prompt ?? parts.find(({ text }) => text !== undefined)?.text ?? '';
};

export const imagesIn = (body: Record<string, unknown>, behaviour: Behaviour): number => {
  const { parameters, sequential_image_generation_options: sequence } = body as {
    parameters?: { n?: number };
    sequential_image_generation_options?: { max_images: number };
  };
  const asked = sequence?.max_images ?? parameters?.n ?? Number(body.num_images ?? 1);
  if (behaviour === 'more') return asked + 1;
  return behaviour === 'fewer' ? Math.max(1, asked - 1) : asked;
};

/** Behaviours that end without anything made. `gone` tasks are unknown as soon as they are asked for. */
const FRUITLESS = new Set<Behaviour>(['refused', 'broken', 'never', 'wavers', 'same-id']);

export const madeOf = (task: Task, asynchronous: boolean): Made => {
  const forgotten = asynchronous && task.behaviour === 'gone';
  const works = !FRUITLESS.has(task.behaviour) && !forgotten;
  const urls = urlsOf(task).filter((url) => !url.includes('/missing'));
  return { id: task.id, doneAt: task.doneAt, works, forgotten, urls };
};

export const urlsOf = ({ id, behaviour, images, video }: Task): string[] =>
  Array.from({ length: video ? 1 : images }, (_, index) => {
    const isMissing = behaviour === 'no-files' || (behaviour === 'one-file-missing' && index === 0);
    const kind = behaviour.endsWith('-files') ? behaviour : 'file';
    const name = `${isMissing ? 'missing' : kind}-${index}.${video ? 'mp4' : 'png'}`;
    return `https://${FILE_HOST}/${id}/${name}`;
  });

/** An answer that is no JSON. */
export const page = (status: number): HttpAnswer => ({
  status,
  bytes: Buffer.from('<html>a gateway</html>'),
});

/** An error in the wire format of a provider, with the code that it has there. */
export const error = (
  wire: Task['wire'],
  status: number,
  ark: string,
  studio = ark,
  fal = 'concurrent_requests_limit',
): HttpAnswer => {
  if (wire === 'fal') return jsonAnswer(status, { detail: 'refused', error_type: fal });
  return jsonAnswer(
    status,
    wire === 'ark' ? { error: { code: ark, message: '' } } : { code: studio, message: '' },
  );
};

export const SERVICE_OF = { ark: 'modelark', studio: 'modelstudio', fal: 'fal' } as const;

export const wireOf = (hostname: string): Task['wire'] => {
  if (hostname.startsWith('fal.')) return 'fal';
  return hostname.startsWith('modelark') ? 'ark' : 'studio';
};
