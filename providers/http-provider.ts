import type { RequestKind } from '../core/ids.ts';
import type {
  CancelAnswer,
  Provider,
  ProviderAnswer,
  ProviderCall,
  ProviderPlan,
} from '../core/provider-calls/providers.ts';
import { callsBackFor, type Maker, type ProviderId } from '../core/provider-names.ts';
import type { StoredRequest } from '../core/requests/request-rules.ts';
import { unansweredCreation, withCallId } from './failures.ts';
import { type Answered, callProvider, type HttpAnswer } from './http.ts';
import { type ImageFields, untakenField, type VideoFields } from './taken-fields.ts';

/** The account at a provider, where it is called, and with which key. The default account unless `id` says another one. */
export interface Connection {
  id?: ProviderId;
  baseUrl: string;
  apiKey: string;
}

/** The common base of adapters: an address, a key, and an HTTP call for each creation and query. */
export abstract class HttpProvider implements Provider {
  readonly id: ProviderId;
  readonly baseUrl: string;
  private readonly authorization: string;

  /** `scheme` stands before the key in `Authorization`. */
  constructor({ id, baseUrl, apiKey }: Connection, maker: Maker, scheme = 'Bearer') {
    this.id = id ?? maker;
    this.baseUrl = baseUrl;
    this.authorization = `${scheme} ${apiKey}`;
  }

  callsBack(kind: RequestKind): boolean {
    return callsBackFor(this.id, kind);
  }

  plan(request: StoredRequest, upstreamModel: string, callbackUrl: string): ProviderPlan {
    const fields =
      request.kind === 'image' ? this.imageFields(upstreamModel) : this.videoFields(upstreamModel);
    const untaken = untakenField(request, fields);
    const plan = this.planTaken(request, upstreamModel, callbackUrl);
    return untaken === undefined ? plan : { mode: plan.mode, calls: [], untaken };
  }

  /** The fields of a creation of images that an upstream model is sent. */
  abstract imageFields(upstreamModel: string): ImageFields;

  /** The fields of a creation of a video that an upstream model is sent. */
  abstract videoFields(upstreamModel: string): VideoFields;

  /** The plan of a request whose fields are all taken. */
  protected abstract planTaken(
    request: StoredRequest,
    upstreamModel: string,
    callbackUrl: string,
  ): ProviderPlan;

  async submit(call: ProviderCall, signal: AbortSignal): Promise<ProviderAnswer> {
    const answer = await this.call('POST', call.path, signal, call);
    const told =
      answer.kind === 'answered' ? this.readCreation(answer, call) : unansweredCreation(this.id, answer);
    return withCallId(told, answer);
  }

  async query(taskId: string, signal: AbortSignal): Promise<ProviderAnswer> {
    const answer = await this.call('GET', this.taskPath(taskId), signal);
    return withCallId(this.readTask(answer), answer);
  }

  abstract cancel(taskId: string, signal: AbortSignal): Promise<CancelAnswer>;

  /** The meaning of an answer to a creation. */
  protected abstract readCreation(answer: Answered, call: ProviderCall): ProviderAnswer;

  /** The path of a task, below the base URL. */
  protected abstract taskPath(taskId: string): string;

  /** The meaning of an answer to a query. */
  protected abstract readTask(answer: HttpAnswer): ProviderAnswer;

  /** Makes one call with the key. */
  protected call(
    method: Parameters<typeof callProvider>[0],
    path: string,
    signal: AbortSignal,
    { headers = {}, body }: Partial<Pick<ProviderCall, 'headers' | 'body'>> = {},
  ): Promise<HttpAnswer> {
    const own = { authorization: this.authorization, ...headers };
    return callProvider(method, this.baseUrl + path, { headers: own, signal, ...(body && { body }) });
  }
}
