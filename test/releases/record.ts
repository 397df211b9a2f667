/**
 * `node test/releases/record.ts [FOLDER]` plays requests through the simulation of a source tree, by default this one. It prints the
 * stored items, and the payloads and results of task functions.
 */
import { pathToFileURL } from 'node:url';
import type { Service } from '../simulation/known-faults/service.ts';
import type { Deployment } from '../simulation/world/aws/step-functions.ts';
import { ENTITIES, entityOf } from './entities.ts';
import { type Recorded, SAMPLES_OF_A_SHAPE } from './recorded.ts';

const folder = process.argv[2];
const tree = folder === undefined ? new URL('../../', import.meta.url) : pathToFileURL(`${folder}/`);
/** Loads a module of the tree, with the types of this one. */
const load = async <Module>(path: string): Promise<Module> =>
  (await import(new URL(path, tree).href)) as Module;

type Item = Record<string, unknown>;

/** Attribute names, and the values that readers tell apart. */
const shapeOf = (item: Item): string => {
  const { outcome, status, kind, reason, GSI1PK } = item;
  const names = Object.keys(item).filter((name) => !/^(permit#|slot)/.test(name));
  const list = String(GSI1PK).replace(/#\d+$/, '');
  return JSON.stringify([names.sort(), (outcome as Item | undefined)?.kind, status, kind, reason, list]);
};

/** Keeps a few examples of each shape. */
class Samples<T> {
  readonly all: T[] = [];
  private readonly counts = new Map<string, number>();

  add(shape: string, example: T): void {
    const count = this.counts.get(shape) ?? 0;
    if (count >= SAMPLES_OF_A_SHAPE) return;
    this.counts.set(shape, count + 1);
    this.all.push(structuredClone(example));
  }
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** Who calls, as a creation names them. */
const EMAILS = { ada: 'ada@example.com', bob: 'bob@example.com', eve: 'eve@example.com' };

/** Lets everything happen that a release can store. */
const play = async (service: Service): Promise<void> => {
  const { world, accountId, call, settled } = service;
  const { scheduler, stepFunctions } = world;
  const { changeBalance } = await load<typeof import('../../core/ledger/change-balance.ts')>(
    'core/ledger/change-balance.ts',
  );
  const { putEnabled, putRate } = await load<typeof import('../../core/models/model-settings.ts')>(
    'core/models/model-settings.ts',
  );
  const { endRequest } = await load<typeof import('../../core/ending/end-request.ts')>(
    'core/ending/end-request.ts',
  );
  const { failed } = await load<typeof import('../../core/ending/failed.ts')>('core/ending/failed.ts');
  const operate = (act: () => Promise<unknown>): Promise<unknown> => settled(act());
  const create = async (behaviour: string, body: Item, idempotencyKey?: string): Promise<string> => {
    const route = String(body.model).startsWith('xW') ? 'create-video' : 'create-generation';
    const prompt = `p [${behaviour}] [once]`;
    const answer = await call({ route, body: { endUserEmail: EMAILS.ada, ...body, prompt }, idempotencyKey });
    if (answer.status !== 202) throw new Error(`${route}: ${JSON.stringify(answer)}`);
    return String(answer.body.requestId);
  };
  const image = { model: 'xSD4.5', size: '2K', aspectRatio: 'landscape', n: 2 };
  const video = { model: 'xW3.0s', durationSec: 5, resolution: '1080p', ratio: '16:9' };
  const hook = (receiver: string) => ({ webhookUrl: `https://hooks.caller.example/${receiver}` });

  await operate(() =>
    changeBalance(
      accountId,
      { amountThousandths: 5_000, reason: 'topup', reference: 'invoice 1', idempotencyKey: 'invoice 1' },
      new Date(),
    ),
  );
  await operate(() =>
    changeBalance(
      accountId,
      { amountThousandths: -1, reason: 'admin_adjustment', reference: 'a' },
      new Date(),
    ),
  );
  await operate(() => putRate('xZI1.0Pro', { perImage: [{ maxPixels: null, xTokens: 3 }] }));
  await operate(() => putEnabled('xSD5Pro', false));

  // Images: delivered, in part, refused, busy, lost; with references, keys and webhooks.
  const first = await create('works', { ...image, ...hook('fails-first') }, 'key 1');
  const references = ['https://images.example.com/a.png'];
  for (const behaviour of ['one-file-missing', 'no-files', 'fewer', 'broken', 'refused', 'refused', 'busy']) {
    await create(behaviour, { ...image, references, ...hook('takes') });
  }
  for (const behaviour of ['refused', 'broken', 'busy', 'instant']) {
    await create(behaviour, { model: 'xQI3Pro', size: '1K', endUserEmail: EMAILS.bob, ...hook('slow') });
    await create(behaviour, { model: 'xZI1.0Pro', size: '1024x1024', endUserEmail: EMAILS.bob });
  }
  await scheduler.advance(20 * MINUTE_MS);

  // Videos, run in sequence by their route: videos with reference videos, and a video that the provider never
  // finishes.
  const referenceVideos = ['https://clips.caller.example/mp4/0'];
  await create('works', { ...video, referenceVideos, ...hook('gone') });
  const others = [await create('slow', { ...video }), await create('works', { ...video })];
  const { VIDEO_MODEL } = await load<typeof import('../simulation/known-faults/service.ts')>(
    'test/simulation/known-faults/service.ts',
  );
  const framed = { model: VIDEO_MODEL, image: references[0], ...hook('late') };
  for (const behaviour of ['slow', 'works', 'never', 'gone', 'instant', 'broken']) {
    others.push(await create(behaviour, framed));
  }
  await scheduler.advance(2 * MINUTE_MS);
  const failure = { code: 'internal_error', message: 'Ended by the operator.' } as const;
  await operate(() => endRequest(others[1] ?? '', failed(failure), { operatorNote: 'checked' }));
  await scheduler.advance(4 * HOUR_MS);

  // Execution that is stopped; end-users blocked and removed; requests deleted; ledgers verified; files that expire.
  const lost = await create('slow', { model: 'xW3.0s', durationSec: 5, image: references[0] });
  await scheduler.advance(5_000);
  const execution = stepFunctions.executionOf(lost);
  if (execution) stepFunctions.abort(execution);
  await call({ route: 'block-end-user', parameters: { email: EMAILS.ada } });
  await call({ route: 'delete-generation', parameters: { requestId: first } });
  await create('works', { ...image, endUserEmail: EMAILS.eve, ...hook('takes') });
  await scheduler.advance(HOUR_MS);
  await call({ route: 'delete-end-user', parameters: { email: EMAILS.eve } });
  stepFunctions.begin('verify-ledgers', { full: true });
  await scheduler.advance(2 * DAY_MS);
};

/** Begins requests of each kind, for a table with work under way. */
const leaveOpen = async ({ world, call }: Service): Promise<void> => {
  const { scheduler } = world;
  const bodies = [
    { model: 'xSD4.5', prompt: 'o [instant] [once]' },
    { model: 'xQI3Pro', prompt: 'o [slow] [once]' },
    ...['slow', 'slow', 'slow'].map((behaviour) => ({
      model: 'xW2.7S',
      prompt: `o [${behaviour}] [once]`,
      image: 'https://images.example.com/a.png',
    })),
    { model: 'xW3.0s', prompt: 'o [slow] [off]', durationSec: 5 },
  ];
  for (const body of bodies) {
    const route = body.model.startsWith('xW') ? 'create-video' : 'create-generation';
    const webhookUrl = 'https://hooks.caller.example/takes';
    const answer = await call({ route, body: { ...body, webhookUrl, endUserEmail: EMAILS.bob } });
    if (answer.status !== 202) throw new Error(`${route}: ${JSON.stringify(answer)}`);
    await scheduler.advance(4_000);
  }
  await call({ route: 'create-generation', body: { ...bodies[0], endUserEmail: EMAILS.bob } });
};

const record = async (): Promise<Recorded> => {
  const { loadDeployment } = await load<typeof import('../simulation/start.ts')>('test/simulation/start.ts');
  const deployment = await loadDeployment();
  const { inService } = await load<typeof import('../simulation/known-faults/service.ts')>(
    'test/simulation/known-faults/service.ts',
  );
  const steps = new Samples<Recorded['steps'][number]>();
  const functions: Deployment['functions'] = new Map(
    [...deployment.functions].map(([stem, fn]) => {
      if (!fn.name.startsWith('workflow/')) return [stem, fn];
      const handler: typeof fn.handler = async (payload, context) => {
        const result = await fn.handler(payload, context);
        const answer = (result ?? null) as Item | null;
        const shape = JSON.stringify([
          stem,
          Object.keys(payload as Item),
          answer?.next,
          Object.keys(answer ?? {}),
        ]);
        steps.add(shape, { task: stem, payload, result: answer });
        return result;
      };
      return [stem, { ...fn, handler }];
    }),
  );
  const items = new Samples<Recorded['items'][number]>();
  let table: Recorded['table'] = { at: '', apiKey: '', items: [] };
  await inService({ ...deployment, functions }, { limits: { maxRunning: 2 } }, async (service) => {
    let apiKey = '';
    const { lambda } = service.world;
    const run = lambda.run.bind(lambda);
    lambda.run = (fn, payload) => {
      const { headers } = (payload ?? {}) as { headers?: { Authorization?: string } };
      apiKey = headers?.Authorization?.replace('Bearer ', '') ?? apiKey;
      return run(fn, payload);
    };
    const sample = (item: Item): void =>
      items.add(`${entityOf(String(item.SK))} ${shapeOf(item)}`, { entity: entityOf(String(item.SK)), item });
    // What was there before anybody watched.
    for (const item of service.world.table.items.values()) sample(item);
    service.world.table.witnesses.push((_key, _before, after) => {
      if (after) sample(after);
    });
    await play(service);
    await leaveOpen(service);
    table = {
      at: new Date(service.world.scheduler.now).toISOString(),
      apiKey,
      items: structuredClone([...service.world.table.items.values()]),
    };
  });
  return { items: items.all, table, steps: steps.all, schemas: await readSchemas() };
};

/** The schemas of the tree's readers, as JSON Schemas of what they accept. */
const readSchemas = async (): Promise<Recorded['schemas']> => {
  const { toJSONSchema } = await import('zod/v4/core');
  const schemas = Object.entries(ENTITIES).map(async ([entity, { module, schema }]) => {
    const { [schema]: reader } = await load<Record<string, Parameters<typeof toJSONSchema>[0]>>(module);
    if (!reader) throw new Error(`${module} has no ${schema}.`);
    return [entity, toJSONSchema(reader, { io: 'input', unrepresentable: 'any' })] as const;
  });
  return Object.fromEntries(await Promise.all(schemas)) as Recorded['schemas'];
};

process.stdout.write(JSON.stringify(await record()));
