import { Part } from '../part.ts';
import type { World } from '../world.ts';
import type { HttpAnswer, HttpRequest } from './http.ts';

/** How a caller's webhook receiver behaves, named in its URL. */
export const RECEIVERS = ['takes', 'fails-first', 'slow', 'gone', 'late'] as const;
export type Receiver = (typeof RECEIVERS)[number];

const HOST = 'hooks.caller.example';
const BALANCE_HOST = 'billing.caller.example';
/** Where events of an account's balance are sent. */
export const BALANCE_URL = `https://${BALANCE_HOST}/balance`;

export const webhookUrlOf = (receiver: Receiver): string => `https://${HOST}/${receiver}`;

/** What a receiver was told. */
export interface Told {
  receiver: Receiver;
  /** When, in epoch milliseconds. */
  at: number;
  webhookId: string;
  requestId: string;
  type: string;
  /** How the record in it reads. */
  status: string;
  /** Whether the receiver said that it took it. */
  taken: boolean;
}

const SLOW_ANSWER_MS = 20_000;
/** How many tries one refuses before it takes one: of ten some may not arrive. After the last of a late one the files have expired. */
const REFUSALS: Partial<Record<Receiver, number>> = {
  'fails-first': 2,
  late: 7,
  gone: Number.POSITIVE_INFINITY,
};

/** The callers' own servers, which are told of the end of their requests. */
export class Receivers extends Part {
  readonly told: Told[] = [];
  /** When an attempt was made to tell of a request's end, in epoch milliseconds, by the request's id. It may have failed on its way. */
  readonly triedAt = new Map<string, number[]>();
  /** How often each event of a balance came, by its webhook id. The second time it is taken. */
  readonly toldOfBalance = new Map<string, number>();

  constructor(world: World) {
    super(world);
    world.http.sites.set(HOST, (request) => this.take(request));
    world.http.watchers.set(HOST, (request) => this.seeTry(request));
    world.http.sites.set(BALANCE_HOST, async ({ headers }) => {
      const webhookId = String(headers['webhook-id']);
      const times = (this.toldOfBalance.get(webhookId) ?? 0) + 1;
      this.toldOfBalance.set(webhookId, times);
      return { status: times > 1 ? 200 : 500, bytes: new Uint8Array() };
    });
  }

  private seeTry({ body }: HttpRequest): void {
    const { requestId } = bodyOf(body).data;
    const { now } = this.world.scheduler;
    this.triedAt.set(requestId, [...(this.triedAt.get(requestId) ?? []), now]);
  }

  private async take({ url, headers, body }: HttpRequest): Promise<HttpAnswer> {
    const receiver = new URL(url).pathname.slice(1) as Receiver;
    const { type, data } = bodyOf(body);
    const { requestId, status } = data;
    const earlier = this.told.filter((told) => told.requestId === requestId).length;
    if (receiver === 'slow' && earlier === 0) await this.world.scheduler.sleep(SLOW_ANSWER_MS);
    const taken = earlier >= (REFUSALS[receiver] ?? 0);
    const at = this.world.scheduler.now;
    this.told.push({
      receiver,
      at,
      webhookId: String(headers['webhook-id']),
      requestId,
      type,
      status,
      taken,
    });
    const refusal = receiver === 'gone' ? 410 : 500;
    return { status: taken ? 200 : refusal, bytes: new Uint8Array() };
  }
}

const bodyOf = (body: string): { type: string; data: { requestId: string; status: string } } =>
  JSON.parse(body);
