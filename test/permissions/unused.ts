/** A permission of a role, as a local run reports it. */
export interface PermissionUse {
  principal: string;
  action: string;
  resources: readonly string[];
  leadingKeys?: readonly string[];
  isUsed: boolean;
}

/** What the CDK and the local run add to names: the ends of a secret's name and ARN, then hashes of a construct's path. */
const ADDED = [/-[a-z0-9]{12}(?=$|-)/, /-[A-Za-z0-9]{6}$/, /[0-9A-F]{8}(?=$|[:/])/];

const withoutAdded = (name: string): string =>
  ADDED.reduce((short, added) => short.replaceAll(new RegExp(added, 'g'), ''), name);

const shortOf = (resource: string): string =>
  withoutAdded(resource.replace(/^arn:[^:]*:([^:]*):[^:]*:[^:]*:/, '$1:'));

const placeOf = ({ resources, leadingKeys }: PermissionUse): string => {
  const where = resources.map(shortOf).toSorted().join(' ');
  return leadingKeys ? `${where} of ${leadingKeys.toSorted().join(' ')}` : where;
};

/** A permission that no run used: the role's function or state machine, the action, and on what. */
export type Unused = [principal: string, action: string, on: string];

/** Lambda itself writes the log of a function, by the function's role. No call to the local AWS shows it. */
const isLogging = ({ action }: PermissionUse): boolean => action.startsWith('logs:');

/** The permissions that some run granted and none used, by role and action. The writing of logs is left out. */
export const unusedPermissions = (runs: readonly (readonly PermissionUse[])[]): Unused[] => {
  const granted = new Map<string, Unused>();
  const used = new Set<string>();
  for (const use of runs.flat().filter((one) => !isLogging(one))) {
    const permission: Unused = [withoutAdded(use.principal), use.action, placeOf(use)];
    const key = permission.join('\n');
    granted.set(key, permission);
    if (use.isUsed) used.add(key);
  }
  return [...granted]
    .filter(([key]) => !used.has(key))
    .map(([, permission]) => permission)
    .toSorted((a, b) => a.join('\n').localeCompare(b.join('\n')));
};
