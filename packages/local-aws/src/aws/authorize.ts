import type { PolicyStatement, Principal } from '../types.ts';

/** An IAM action on one resource (`*` for calls that name none) that a call must be allowed. */
export interface Permission {
  action: string;
  resource: string;
  /** The partition keys that the call names; undefined for calls that name none. An unknown key is empty text, which only `*` matches. */
  leadingKeys?: readonly string[];
  /** The top-level attributes that the call names, those of its keys included; undefined for calls on no items. */
  attributes?: readonly string[];
}

/** Whether `text` matches an IAM pattern: `*` is any run of characters, `?` is exactly one. */
export const matchesPattern = (pattern: string, text: string): boolean => {
  let patternAt = 0;
  let textAt = 0;
  let starAt = -1;
  let resumeAt = 0;
  while (textAt < text.length) {
    const wanted = pattern[patternAt];
    if (wanted === '*') {
      starAt = patternAt;
      resumeAt = textAt;
      patternAt += 1;
    } else if (wanted === '?' || wanted === text[textAt]) {
      patternAt += 1;
      textAt += 1;
    } else if (starAt >= 0) {
      // Let the last star match one more character, and continue after it.
      resumeAt += 1;
      textAt = resumeAt;
      patternAt = starAt + 1;
    } else {
      return false;
    }
  }
  while (pattern[patternAt] === '*') patternAt += 1;
  return patternAt === pattern.length;
};

/** As `ForAllValues` does, a call without values meets the conditions, unless `Null` asks for one. */
const meetsConditions = (
  { leadingKeys, attributes, present = [] }: PolicyStatement,
  permission: Permission,
): boolean =>
  (permission.leadingKeys ?? []).every(
    (key) => leadingKeys?.some((pattern) => matchesPattern(pattern, key)) ?? true,
  ) &&
  (permission.attributes ?? []).every((name) => attributes?.includes(name) ?? true) &&
  present.every((condition) => (permission[condition] ?? []).length > 0);

const covers = (statement: PolicyStatement, permission: Permission): boolean =>
  statement.actions.some((pattern) =>
    matchesPattern(pattern.toLowerCase(), permission.action.toLowerCase()),
  ) &&
  statement.resources.some((pattern) => matchesPattern(pattern, permission.resource)) &&
  meetsConditions(statement, permission);

const refusal = (principal: Principal, { action, resource }: Permission, explicit: boolean): string =>
  `User: ${principal.name} is not authorized to perform: ${action} on resource: ${resource} ` +
  (explicit
    ? 'with an explicit deny in an identity-based policy'
    : `because no identity-based policy allows the ${action} action`);

/** The actions for which each statement was needed so far. */
const used = new WeakMap<PolicyStatement, Set<string>>();

const noteUse = (statement: PolicyStatement, action: string): void => {
  const actions = used.get(statement) ?? new Set();
  used.set(statement, actions.add(action.toLowerCase()));
};

/** An action that a caller is allowed, and whether a call has needed it. */
export interface PermissionUse {
  principal: string;
  action: string;
  resources: readonly string[];
  /** The patterns of partition keys that it is limited to. */
  leadingKeys?: readonly string[];
  isUsed: boolean;
}

/** Every action that these callers are allowed, in the order of their policies. */
export const permissionUse = (principals: Iterable<Principal>): PermissionUse[] =>
  [...principals].flatMap(({ name, statements = [] }) =>
    statements
      .filter(({ effect }) => effect === 'Allow')
      .flatMap((statement) =>
        statement.actions.map((action) => ({
          principal: name,
          action,
          resources: statement.resources,
          ...(statement.leadingKeys && { leadingKeys: statement.leadingKeys }),
          isUsed: [...(used.get(statement) ?? [])].some((each) => matchesPattern(action.toLowerCase(), each)),
        })),
      ),
  );

/**
 * Evaluates identity-based policies as IAM does: some statement must allow each permission, and none may deny it. A principal without
 * statements may do everything. Returns the message of the first refusal; undefined when everything is allowed.
 */
export const findRefusal = (principal: Principal, permissions: Permission[]): string | undefined => {
  const { statements } = principal;
  if (!statements) return undefined;
  for (const permission of permissions) {
    const applying = statements.filter((statement) => covers(statement, permission));
    if (applying.some(({ effect }) => effect === 'Deny')) return refusal(principal, permission, true);
    if (applying.length === 0) return refusal(principal, permission, false);
    for (const statement of applying) noteUse(statement, permission.action);
  }
  return undefined;
};
