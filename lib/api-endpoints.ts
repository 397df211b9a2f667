import { Duration } from 'aws-cdk-lib';
import { Construct } from 'constructs';
import {
  type EndpointName,
  OPENAI_ROUTES,
  OPENAI_VIDEO_ROUTES,
  OPENAI_VIDEOS,
  type OpenAiEndpointName,
  QUOTES,
  ROUTES,
  type Route,
  routeText,
} from '../core/routes.ts';
import type { StackContext } from './context.ts';
import type { ApiRoute } from './http-api.ts';
import { pascalCase } from './names.ts';
import { functionsByName, ServiceFunction } from './service-function.ts';

/** API Gateway's integration timeout. */
const GATEWAY_TIMEOUT_SECONDS = 29;

/** A function that waits for images needs more time than that, to start and to send them. */
const SENDING_SECONDS = 60;

/** Routes that answer once their images are there: API Gateway waits longer only for streamed responses. */
const STREAMED: readonly string[] = [
  'create-openai-image',
  'edit-openai-image',
] satisfies OpenAiEndpointName[];

/** An answer with the most images needs 190 (`MAX_BASE64`). */
const WAITING_MEMORY = 256;

/** The functions for OpenAI's clients: one per route, but one for all of videos. */
export type OpenAiFunctionName = OpenAiEndpointName | typeof OPENAI_VIDEOS;
type Name = EndpointName | OpenAiFunctionName;
/** The endpoints of every stack. */
type StandingEndpointName = Exclude<EndpointName, typeof QUOTES>;
/** The names of a table's routes. */
const namesOf = <Of extends string>(routes: Record<Of, Route>): Of[] => Object.keys(routes) as Of[];

/** The functions of the API, one per route; those for OpenAI's clients and the one of quotes only where the context wants them. */
export class ApiEndpoints extends Construct {
  /** The functions, by the name of their route. */
  readonly functions: Record<StandingEndpointName, ServiceFunction>;
  /** The function of quotes; undefined where no rates are published. */
  readonly quotes: ServiceFunction | undefined;
  /** Those for OpenAI's clients; undefined without them. */
  readonly openAi: Record<OpenAiFunctionName, ServiceFunction> | undefined;

  constructor(
    scope: Construct,
    id: string,
    bundleOf: (name: string) => string,
    {
      openaiSurface,
      openaiWaitSeconds,
      publishRates,
    }: Pick<StackContext, 'openaiSurface' | 'openaiWaitSeconds' | 'publishRates'>,
  ) {
    super(scope, id);
    const create = (name: Name) =>
      new ServiceFunction(this, pascalCase(name), {
        bundle: bundleOf(`api/${name}`),
        description: name === OPENAI_VIDEOS ? "Videos for OpenAI's clients" : routeText(name),
        timeout: Duration.seconds(
          STREAMED.includes(name) ? openaiWaitSeconds + SENDING_SECONDS : GATEWAY_TIMEOUT_SECONDS,
        ),
        // CPU grows with memory, and a cold start is mostly module loading. A function that waits costs by its memory.
        memorySize: STREAMED.includes(name) ? WAITING_MEMORY : 1024,
      });
    const { [QUOTES]: _, ...standing } = ROUTES;
    this.functions = functionsByName(namesOf(standing), create);
    this.quotes = publishRates ? create(QUOTES) : undefined;
    this.openAi = openaiSurface
      ? functionsByName([...namesOf(OPENAI_ROUTES), OPENAI_VIDEOS], create)
      : undefined;
  }

  /** Every route with its function. */
  get routes(): ApiRoute[] {
    const { functions, quotes, openAi } = this;
    const { [QUOTES]: ofQuotes, ...standing } = ROUTES;
    const routes: ApiRoute[] = [
      ...namesOf(standing).map((name) => ({ ...standing[name], handler: functions[name].lambda })),
      ...(quotes ? [{ ...ofQuotes, handler: quotes.lambda }] : []),
    ];
    if (!openAi) return routes;
    const videos = openAi[OPENAI_VIDEOS].lambda;
    return [
      ...routes,
      ...namesOf(OPENAI_ROUTES).map((name) => ({
        ...OPENAI_ROUTES[name],
        handler: openAi[name].lambda,
        isStreamed: STREAMED.includes(name),
      })),
      ...Object.values(OPENAI_VIDEO_ROUTES).map((route) => ({ ...route, handler: videos })),
    ];
  }
}
