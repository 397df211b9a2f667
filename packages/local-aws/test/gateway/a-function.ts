import { fileURLToPath } from 'node:url';
import type { FunctionSpec } from '../../src/template/functions.ts';

/** A function whose code is a folder of `fixtures/functions`. */
export const aFunction = (
  folder: string,
  overrides: Partial<FunctionSpec> & { file?: string } = {},
): FunctionSpec => {
  const { file = 'index.mjs', ...spec } = overrides;
  const name = spec.name ?? folder;
  return {
    logicalId: name,
    name,
    arn: `arn:aws:lambda:us-east-1:000000000000:function:${name}`,
    entryFile: fileURLToPath(new URL(`./fixtures/functions/${folder}/${file}`, import.meta.url)),
    handlerExport: 'handler',
    environment: () => ({}),
    timeoutSeconds: 5,
    memoryMegabytes: 128,
    logGroupName: `${name}-logs`,
    principal: { name, accessKeyId: `AKIA${name}`, statements: [] },
    ...spec,
  };
};
