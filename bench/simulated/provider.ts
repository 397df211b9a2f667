import type { HttpAnswer, HttpRequest } from '../../test/simulation/world/upstream/http.ts';
import type { World } from '../../test/simulation/world/world.ts';

/** A call to create something, as the provider recorded it. All times are epoch milliseconds. */
export interface ProviderCall {
  /** The prompt, which tells requests apart. */
  prompt: string;
  model: string;
  createdAt: number;
  doneAt: number;
  /** The header with the key of the account. */
  key: string;
  isTask: boolean;
  /** When each query of the task arrived; empty for a synchronous call. */
  queriedAt: number[];
  /** When the first answer left that reported the task done. */
  reportedAt?: number;
  /** When the output was first fetched. */
  fetchedAt?: number;
}

export interface ProviderOptions {
  /** How long the provider works on a call, in milliseconds, by its prompt. */
  workMs: (prompt: string) => number;
  /** How long it takes to answer a creation or query, besides the work of a synchronous call. */
  answerMs: number;
  /** The size of the file for a prompt; undefined for the smallest. */
  fileBytes?: ((prompt: string) => number | undefined) | undefined;
}

const FILE_HOST = 'files.provider.example';

/** Both default providers without callbacks or failures. It keeps its own record of calls and queries. */
export class RecordingProvider {
  readonly calls = new Map<string, ProviderCall>();
  /** When each page of a list was asked for, and with which key. */
  readonly listedAt: { key: string; at: number }[] = [];
  /** Runs when an answer has reported a task done. */
  onReported: ((call: ProviderCall) => void) | undefined;
  private readonly world: World;
  private readonly options: ProviderOptions;
  private readonly files: { image: Uint8Array; video: Uint8Array };

  /** Answers at both providers' hosts and the host of their files in place of the simulation's own provider. */
  constructor(world: World, options: ProviderOptions, files: { image: Uint8Array; video: Uint8Array }) {
    this.world = world;
    this.options = options;
    this.files = files;
    for (const name of ['MODELARK_BASE_URL', 'MODELSTUDIO_BASE_URL'])
      world.http.sites.set(new URL(String(process.env[name])).hostname, (request) => this.answer(request));
    world.http.sites.set(FILE_HOST, ({ url }) => this.file(new URL(url).pathname));
  }

  /** The call for a prompt, if it was made. */
  callFor(prompt: string): ProviderCall | undefined {
    return this.calls.get(taskIdOf(prompt));
  }

  private async answer(request: HttpRequest): Promise<HttpAnswer> {
    const { scheduler } = this.world;
    await scheduler.sleep(this.options.answerMs / 2);
    const isList = request.method === 'GET' && new URL(request.url).pathname === '/api/v1/tasks/';
    const query = () => (isList ? this.list(request) : this.query(request));
    const answer = request.method === 'GET' ? query() : await this.create(request);
    await scheduler.sleep(this.options.answerMs / 2);
    return answer;
  }

  private async create({ url, headers, body: text }: HttpRequest): Promise<HttpAnswer> {
    const { scheduler } = this.world;
    const body = JSON.parse(text) as Body;
    const prompt = body.prompt ?? body.input?.prompt ?? body.input?.messages?.[0]?.content.at(-1)?.text ?? '';
    const doneAt = scheduler.now + this.options.workMs(prompt);
    if (this.callFor(prompt)) throw new Error(`${prompt} was called twice.`);
    this.calls.set(taskIdOf(prompt), {
      ...{ prompt, model: body.model, createdAt: scheduler.now, doneAt },
      ...{ key: headers.authorization ?? '', isTask: headers['x-dashscope-async'] === 'enable' },
      queriedAt: [],
    });
    if (headers['x-dashscope-async'] === 'enable')
      return json({ output: { task_id: taskIdOf(prompt), task_status: 'PENDING' } });
    await scheduler.sleep(doneAt - scheduler.now);
    const file = fileUrl(taskIdOf(prompt), 'png');
    return json(new URL(url).hostname.startsWith('modelark') ? { data: [{ url: file }] } : studioImage(file));
  }

  /** The tasks of an account, by status and page. */
  private list({ url, headers }: HttpRequest): HttpAnswer {
    const { searchParams } = new URL(url);
    const { now } = this.world.scheduler;
    this.listedAt.push({ key: headers.authorization ?? '', at: now });
    const size = Number(searchParams.get('page_size') ?? 10);
    const from = (Number(searchParams.get('page_no') ?? 1) - 1) * size;
    const data = [...this.calls.values()]
      .filter(({ isTask, key }) => isTask && key === headers.authorization)
      .map(({ prompt, doneAt }) => ({
        task_id: taskIdOf(prompt),
        status: now < doneAt ? 'RUNNING' : 'SUCCEEDED',
      }))
      .filter(({ status }) => status === (searchParams.get('status') ?? status));
    const total_page = Math.ceil(data.length / size);
    return json({ data: data.slice(from, from + size), total: data.length, total_page });
  }

  private query({ url }: HttpRequest): HttpAnswer {
    const id = new URL(url).pathname.split('/').at(-1) ?? '';
    const call = this.calls.get(id);
    if (!call) throw new Error(`${url} was queried, which is no task.`);
    const { now } = this.world.scheduler;
    call.queriedAt.push(now);
    if (now < call.doneAt) return json({ output: { task_id: id, task_status: 'RUNNING' } });
    call.reportedAt ??= now;
    this.onReported?.(call);
    const isVideo = call.model.startsWith('wan');
    const output = isVideo ? { video_url: fileUrl(id, 'mp4') } : studioImage(fileUrl(id, 'png')).output;
    return json({ output: { task_id: id, task_status: 'SUCCEEDED', ...output } });
  }

  private file(path: string): HttpAnswer {
    const [, id = '', name = ''] = path.split('/');
    const call = this.calls.get(id);
    if (call) call.fetchedAt ??= this.world.scheduler.now;
    const bytes = name.endsWith('.mp4') ? this.files.video : this.files.image;
    return { status: 200, bytes: enlarged(bytes, this.options.fileBytes?.(call?.prompt ?? '') ?? 0) };
  }
}

interface Body {
  model: string;
  prompt?: string;
  input?: { prompt?: string; messages?: { content: { text?: string }[] }[] };
}

/** The file, filled up to `wanted` bytes by a box at its end, which no reader reads. */
const enlarged = (bytes: Uint8Array, wanted: number): Uint8Array => {
  if (wanted <= bytes.byteLength) return bytes;
  const box = Buffer.alloc(wanted - bytes.byteLength);
  box.writeUInt32BE(box.byteLength, 0);
  box.write('free', 4);
  return Buffer.concat([bytes, box]);
};

/** An id by the beginning of a prompt, which tells requests apart. */
const taskIdOf = (prompt: string): string => prompt.slice(0, 80).replaceAll(/[^\w.]/g, '-');
const fileUrl = (id: string, extension: string): string => `https://${FILE_HOST}/${id}/0.${extension}`;
const studioImage = (image: string) => ({
  output: { choices: [{ message: { content: [{ image }] } }] },
});
const json = (body: unknown): HttpAnswer => ({ status: 200, bytes: Buffer.from(JSON.stringify(body)) });
