import { TemplateError } from './assembly.ts';
import type { Resolver } from './resolver.ts';

/** A URL at which anyone may call a function. */
export interface FunctionUrlSpec {
  logicalId: string;
  functionArn: string;
}

/** The function URLs of a stack. Throws `TemplateError` for one that wants signatures or streams its answers. */
export const functionUrlSpecs = (resolver: Resolver): FunctionUrlSpec[] =>
  resolver.resources('AWS::Lambda::Url').map(({ logicalId, properties }) => {
    const { AuthType, InvokeMode = 'BUFFERED', Cors } = properties;
    if (AuthType !== 'NONE' || InvokeMode !== 'BUFFERED' || Cors !== undefined) {
      throw new TemplateError(
        `${logicalId}: the local run knows function URLs without signatures, streams and CORS only`,
      );
    }
    return { logicalId, functionArn: resolver.text(properties.TargetFunctionArn) };
  });
