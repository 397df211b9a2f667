import { matchesPattern, type Permission } from '../authorize.ts';
import { AwsError } from '../errors.ts';
import { parseJsonObject } from '../json-protocol.ts';

type Json = Record<string, unknown>;

interface DenyStatement {
  Action: string[];
  Resource: string[];
}

/** The statements of a policy that denies actions to everyone. Throws `NotImplemented` for any other policy. */
export const denials = (policy: string): DenyStatement[] => {
  const { Statement } = parseJsonObject(policy);
  return ([Statement].flat() as Json[]).map(({ Effect, Principal, Action, Resource, Sid: _, ...rest }) => {
    const everyone = Principal === '*' || (Principal as Json | undefined)?.AWS === '*';
    if (Effect !== 'Deny' || !everyone || Object.keys(rest).length > 0) {
      throw new AwsError('NotImplemented', 'The local run knows only table policies that deny everyone', 501);
    }
    return { Action: [Action].flat() as string[], Resource: [Resource].flat() as string[] };
  });
};

/** Throws `AccessDeniedException` when the policy denies the caller the permission. */
export const refuseIfDenied = (policy: string, caller: string, { action, resource }: Permission): void => {
  const denies = ({ Action, Resource }: DenyStatement): boolean =>
    Action.some((pattern) => matchesPattern(pattern, action)) &&
    Resource.some((pattern) => matchesPattern(pattern, resource));
  if (!denials(policy).some(denies)) return;
  throw new AwsError(
    'AccessDeniedException',
    `User: ${caller} is not authorized to perform: ${action} on resource: ${resource} with an explicit deny in a resource-based policy`,
  );
};
