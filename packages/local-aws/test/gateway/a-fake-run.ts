import { Readable } from 'node:stream';
import type { AwsEndpoint, AwsEndpointOptions } from '../../src/aws/endpoint.ts';
import { createFaults } from '../../src/aws/faults.ts';
import type { LocalAwsParts } from '../../src/local-aws.ts';
import type { AwsEvent, Principal, RuleSpec, StateMachineSpec } from '../../src/types.ts';

/** Stand-ins for the parts of a run. `story` lists what happened to them, in order; `seen` holds what they were given. */
export const createFakes = (storedSecret?: string) => {
  const story: string[] = [];
  const seen = {
    endpointOptions: {} as AwsEndpointOptions,
    principals: [] as Principal[],
    stateMachines: [] as StateMachineSpec[],
    publish: undefined as ((event: AwsEvent) => void) | undefined,
    rules: [] as RuleSpec[],
    secretsPut: [] as unknown[],
  };
  const publish = () => undefined;

  const endpointOf = (options: AwsEndpointOptions): AwsEndpoint => ({
    url: 'http://127.0.0.1:8',
    callDirectly: async () => 'lost',
    addPrincipals: (principals) => {
      story.push('principals');
      seen.principals.push(...principals);
    },
    openFunctions: () => undefined,
    startExecution: () => undefined,
    startStateMachines: async (specs, _invoke, publish) => {
      story.push('state machines');
      seen.stateMachines.push(...specs);
      seen.publish = publish;
    },
    readObject: async (bucket, key) =>
      key === 'a.png'
        ? {
            body: Readable.from([Buffer.from(bucket)]),
            contentType: 'image/png',
            contentLength: bucket.length,
            etag: '"e"',
            headers: {},
          }
        : undefined,
    readSecret: (name) =>
      storedSecret ?? options.secrets.find((secret) => secret.name === name)?.initialValue,
    writeSecret: (SecretId, SecretString) => void seen.secretsPut.push({ SecretId, SecretString }),
    calls: () => ({}),
    faults: createFaults(),
    close: async () => void story.push('endpoint closed'),
  });

  const parts: LocalAwsParts = {
    startAwsEndpoint: async (options) => {
      story.push('endpoint');
      seen.endpointOptions = options;
      return endpointOf(options);
    },
    createEventBus: ({ rules }) => {
      seen.rules.push(...rules);
      return { publish, start: () => story.push('schedules'), close: () => story.push('schedules closed') };
    },
  };
  return { story, seen, parts, publish };
};
