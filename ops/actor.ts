import { userInfo } from 'node:os';
import type { Actor } from '../core/audit/audit.ts';
import { clientOptions } from '../core/aws-clients.ts';
import type { Target } from './target.ts';

/** Who makes a change: the user of this machine in the local run, else the identity of the AWS credentials. A name given by `--actor` stands before it. */
export const findActor = async ({ stackName }: Target, given: string | undefined): Promise<Actor> => {
  const identity = stackName === undefined ? userInfo().username : await findIdentity();
  return given === undefined ? { actor: identity } : { actor: given, identity };
};

/** The ARN of the credentials' identity. AWS refuses this call to nobody. */
const findIdentity = async (): Promise<string> => {
  // Imported on demand: most runs are local, and most commands change nothing.
  const { GetCallerIdentityCommand, STSClient } = await import('@aws-sdk/client-sts');
  const { Arn } = await new STSClient(clientOptions('stack')).send(new GetCallerIdentityCommand({}));
  if (Arn === undefined) throw new Error('AWS names no identity of these credentials.');
  return Arn;
};
