/**
 * Runs one program at a time against the service at `BASE_URL`, with the key `API_KEY`, and prints what each had from it: a line of JSON.
 * The arguments are the model and the prompt of all, and the names of those that run, at the same time. A program runs as its users run it:
 * its own defaults, retries included.
 */
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { FOLDER } from './installed.ts';

const require = createRequire(`${FOLDER}/package.json`);
const { BASE_URL: baseURL = '', API_KEY: apiKey = '' } = process.env;
const [model = '', text = '', ...names] = process.argv.slice(2);

/** Calls a program with a prompt. Returns how many images or videos it has. */
type Call = (prompt: string) => Promise<number>;
/** An image in the answer of OpenAI. */
interface Item {
  b64_json?: string;
  url?: string;
}

/** A version of OpenAI's client, with what else the body has. */
const openai =
  (name: string, more: object = {}, isGiven: (image: Item) => unknown = ({ b64_json }) => b64_json): Call =>
  async (prompt) => {
    const module = require(name);
    const client = new (module.OpenAI ?? module.default)({ baseURL, apiKey });
    const { data } = await client.images.generate({ model, prompt, n: 1, ...more });
    return data.filter(isGiven).length;
  };

/** A version of the AI SDK, by a provider. */
const aiSdk =
  (version: number, imageModel: () => unknown, isEdit = false): Call =>
  async (text) => {
    const ai = require(`ai${version}`);
    const generate = ai.generateImage ?? ai.experimental_generateImage;
    const prompt = isEdit ? { text, images: [await (await picture()).bytes()] } : text;
    return (await generate({ model: imageModel(), prompt })).images.length;
  };
/** A picture to edit. */
const picture = async (): Promise<Blob> => (await fetch(process.env.PICTURE_URL ?? '')).blob();
const ofOpenAi = (version: number, isEdit?: boolean): Call => {
  const imageModel = () => require(`ai-openai-${version}`).createOpenAI({ baseURL, apiKey }).image(model);
  return aiSdk(version, imageModel, isEdit);
};
const ofCompatible = (version: number): Call =>
  aiSdk(version, () => {
    const { createOpenAICompatible } = require(`ai-compatible-${version}`);
    return createOpenAICompatible({ name: 'service', baseURL, apiKey }).imageModel(model);
  });

/** The pause between two reads of a video. */
const READ_AGAIN_MS = 1_000;

/**
 * A version of OpenAI's client that makes a video, waits for the end, finds the video in the list and downloads the
 * file.
 */
const openaiVideo =
  (name: string): Call =>
  async (prompt) => {
    const { videos } = new (require(name).OpenAI)({ baseURL, apiKey });
    let video = await videos.create({ model, prompt, seconds: '4', size: '1280x720' });
    while (video.status === 'queued' || video.status === 'in_progress') {
      await new Promise((resolve) => setTimeout(resolve, READ_AGAIN_MS));
      video = await videos.retrieve(video.id);
    }
    const listed: string[] = [];
    for await (const { id } of videos.list({ order: 'asc', limit: 1 })) listed.push(id);
    const file = Buffer.from(await (await videos.downloadContent(video.id)).arrayBuffer());
    return file.toString('latin1', 4, 8) === 'ftyp' && listed.includes(video.id) ? 1 : 0;
  };

const langChain: Call = async (prompt) => {
  const { DallEAPIWrapper } = require('@langchain/openai');
  const url = await new DallEAPIWrapper({ apiKey, baseUrl: baseURL, model }).invoke(prompt);
  return /^http/.test(url) ? 1 : 0;
};

const tanStack =
  (more: object): Call =>
  async (prompt) => {
    const module = (path: string) => import(pathToFileURL(`${FOLDER}/node_modules/${path}`).href);
    const { createOpenaiImage } = await module('@tanstack/ai-openai/dist/esm/index.js');
    const { generateImage } = await module('@tanstack/ai/dist/esm/index.js');
    const adapter = createOpenaiImage(model, apiKey, { baseURL });
    return (await generateImage({ adapter, prompt, ...more })).images.length;
  };

/** The body of a form, as n8n's node sends it. */
const n8nEdit: Call = async (prompt) => {
  const form = new FormData();
  form.append('image[]', await picture(), 'in.png');
  const texts = { prompt, model, n: '1', size: '1024x1024', quality: 'auto' };
  for (const [name, value] of Object.entries(texts)) form.append(name, value);
  const headers = { authorization: `Bearer ${apiKey}` };
  const response = await fetch(`${baseURL}/images/edits`, { method: 'POST', headers, body: form });
  const answer = (await response.json()) as { data?: Item[]; error?: { message: string } };
  if (!response.ok) throw Object.assign(new Error(answer.error?.message), { status: response.status });
  return (answer.data ?? []).filter(({ b64_json }) => b64_json).length;
};

const LIBRE_CHAT = { background: 'auto', output_format: 'png', quality: 'auto', size: 'auto' };
const hasUrl = ({ url }: Item) => url;

const PROGRAMS: Record<string, Call> = {
  ...Object.fromEntries(
    ['openai400', 'openai4', 'openai5', 'openai6', 'openai7'].map((name) => [name, openai(name)]),
  ),
  ...Object.fromEntries(
    [4, 5, 6, 7].flatMap((version) => [
      [`ai${version} openai`, ofOpenAi(version)],
      [`ai${version} openai-compatible`, ofCompatible(version)],
    ]),
  ),
  'openai6, video': openaiVideo('openai6'),
  'openai7, video': openaiVideo('openai7'),
  'ai6, edit': ofOpenAi(6, true),
  'ai7, edit': ofOpenAi(7, true),
  LangChain: langChain,
  'TanStack AI': tanStack({ size: '1024x1024' }),
  'TanStack AI, quality': tanStack({ modelOptions: { quality: 'low' } }),
  LibreChat: openai('openai6', LIBRE_CHAT),
  'LibreChat, quality': openai('openai6', { ...LIBRE_CHAT, quality: 'high', size: '1024x1536' }),
  'Open WebUI': openai('openai6', { size: '512x512', response_format: 'b64_json' }),
  'n8n, older node': openai('openai6', { quality: 'hd', style: 'vivid', size: '1024x1024' }),
  n8n: openai('openai6', { quality: 'high', size: '1024x1024' }),
  'n8n, edit': n8nEdit,
  'of the DALL-E age': openai('openai4', { quality: 'standard', style: 'vivid' }, hasUrl),
  promptfoo: openai('openai6', { size: '1024x1024', response_format: 'url' }, hasUrl),
};

/** A program whose last retry was answered 408 is run again, as its user would: the call collects its images. */
const RUNS = 3;

/** The status of the last answer that a client had. */
const statusOf = (error: unknown): number | undefined => {
  const { status, statusCode, lastError } = error as {
    status?: number;
    statusCode?: number;
    lastError?: unknown;
  };
  return status ?? statusCode ?? (lastError === undefined ? undefined : statusOf(lastError));
};

const runProgram = async (name: string): Promise<object> => {
  const call = PROGRAMS[name];
  if (!call) throw new Error(`There is no program ${name}.`);
  for (let runs = 1; ; runs++) {
    try {
      return { name, images: await call(`${text} ${name}`), runs };
    } catch (error) {
      if (statusOf(error) !== 408 || runs === RUNS) return { name, error: (error as Error).message };
    }
  }
};

// Programs print errors of their own, too.
const print = process.stdout.write.bind(process.stdout);
process.stdout.write = () => true;
await Promise.all(
  names.map(async (name) => {
    const had = await runProgram(name);
    print(`${JSON.stringify(had)}\n`);
  }),
);
process.exit(0);
