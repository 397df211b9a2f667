import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';

const root = new URL('../../', import.meta.url);

/**
 * The code of ours that a function's bundle holds, by the function's name: its entry point with everything
 * it reaches, without what tree shaking drops and without packages.
 */
export const codeOf = (name: string): string => {
  const { outputFiles } = buildSync({
    entryPoints: [fileURLToPath(new URL(`functions/${name}.ts`, root))],
    bundle: true,
    write: false,
    packages: 'external',
    platform: 'node',
    target: 'node24',
    format: 'esm',
    legalComments: 'none',
    logLevel: 'warning',
  });
  return outputFiles.map(({ text }) => text).join('\n');
};

/** Every variable the service knows: the members of `EnvironmentName`. */
export const environmentNames = (): string[] => {
  const source = readFileSync(new URL('core/environment.ts', root), 'utf8');
  const union = /export type EnvironmentName =([^;]+);/.exec(source)?.[1] ?? '';
  return [...union.matchAll(/'([A-Z_]+)'/g)].map(([, name = '']) => name);
};

/** The variables that code names, wherever it does. */
export const variablesNamedIn = (code: string): string[] =>
  environmentNames().filter((name) => new RegExp(`\\b${name}\\b`).test(code));

/** What shows in code that an action is called for. */
const ACTION_SIGNS: Record<string, RegExp> = {
  'dynamodb:GetItem': /new GetCommand\d*\(/,
  'dynamodb:BatchGetItem': /new BatchGetCommand\d*\(/,
  'dynamodb:BatchWriteItem': /new BatchWriteCommand\d*\(/,
  'dynamodb:Query': /new QueryCommand\d*\(/,
  'dynamodb:Scan': /new ScanCommand\d*\(/,
  'dynamodb:PutItem': /new PutCommand\d*\(|\bPut: \{/,
  'dynamodb:UpdateItem': /new UpdateCommand\d*\(|\bUpdate: \{/,
  // Files are deleted by a `Delete` too, which names no table.
  'dynamodb:DeleteItem': /new DeleteCommand\d*\(|\bDelete: \{\s*TableName/,
  'dynamodb:ConditionCheckItem': /\bConditionCheck: \{/,
  's3:PutObject': /new (Upload|PutObjectCommand)\d*\(/,
  's3:AbortMultipartUpload': /new Upload\d*\(/,
  's3:GetObject': /new GetObjectCommand\d*\(/,
  's3:DeleteObject': /new DeleteObjects?Command\d*\(/,
  's3:ListBucket': /new ListObjectsV2Command\d*\(/,
  'secretsmanager:DescribeSecret': /new DescribeSecretCommand\d*\(/,
  'secretsmanager:GetSecretValue': /new GetSecretValueCommand\d*\(|\bgetSecret\d*\(/,
  'secretsmanager:PutSecretValue': /new PutSecretValueCommand\d*\(/,
  'states:StartExecution': /new StartExecutionCommand\d*\(/,
  'states:DescribeExecution': /new DescribeExecutionCommand\d*\(/,
  'states:ListExecutions': /\bpaginateListExecutions\d*\(/,
  'states:SendTaskSuccess': /new SendTaskSuccessCommand\d*\(/,
  'states:SendTaskHeartbeat': /new SendTaskHeartbeatCommand\d*\(/,
  'bedrock:ApplyGuardrail': /new ApplyGuardrailCommand\d*\(/,
};

/** The actions that code calls for. Throws for a command it does not know, so that none goes unnoticed. */
export const actionsCalledIn = (code: string): string[] => {
  const signs = Object.values(ACTION_SIGNS);
  for (const [command] of code.matchAll(/new \w+Command\d*\(/g)) {
    const known = /TransactWriteCommand/.test(command) || signs.some((sign) => sign.test(command));
    if (!known) throw new Error(`Add ${command} to the actions known here.`);
  }
  return Object.keys(ACTION_SIGNS).filter((action) => ACTION_SIGNS[action]?.test(code));
};
