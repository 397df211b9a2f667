import { readFileSync } from 'node:fs';
import { namesOfProvider, PROVIDER_IDS } from '../../core/provider-names.ts';
import { askInfraServer, FUNCTION_CODE } from './service-template.ts';

const root = new URL('../../', import.meta.url);
const codeByFunction = new Map(await askInfraServer<[string, string][]>(FUNCTION_CODE));

/** Our code in a function's bundle. Throws for an unknown function. */
export const codeOf = (name: string): string => {
  const code = codeByFunction.get(name);
  if (code === undefined) throw new Error(`There is no function ${name}.`);
  return code;
};

/** The variables of each provider, each with its end, which code adds to the provider's id, before the name of an account. */
const PROVIDER_VARIABLES = new Map<string, string>(
  PROVIDER_IDS.flatMap((id) =>
    Object.values(namesOfProvider(id))
      .filter((name) => /^[A-Z_]+_(BASE_URL|SECRET_ARN)$/.test(name))
      .map((name) => [name, name.slice(id.length)] as const),
  ),
);

/** The members of `EnvironmentName`. */
export const environmentNames = (): string[] => {
  const source = readFileSync(new URL('core/environment.ts', root), 'utf8');
  const union = /export type EnvironmentName =([^;]+);/.exec(source)?.[1] ?? '';
  const written = [...union.matchAll(/'([A-Z_]+)'/g)].map(([, name = '']) => name);
  return [...written, ...PROVIDER_VARIABLES.keys()];
};

/** The variables named in code. */
export const variablesNamedIn = (code: string): string[] =>
  environmentNames().filter((name) => {
    const end = PROVIDER_VARIABLES.get(name);
    return end === undefined ? new RegExp(`\\b${name}\\b`).test(code) : code.includes(`}${end}\${`);
  });

/** The code that shows an action is used. */
const ACTION_SIGNS: Record<string, RegExp> = {
  'dynamodb:GetItem': /new GetCommand\d*\(/,
  'dynamodb:BatchGetItem': /new BatchGetCommand\d*\(/,
  'dynamodb:BatchWriteItem': /new BatchWriteCommand\d*\(/,
  'dynamodb:Query': /new QueryCommand\d*\(/,
  'dynamodb:Scan': /new ScanCommand\d*\(/,
  'dynamodb:PutItem': /new PutCommand\d*\(|\bPut: \{/,
  'dynamodb:UpdateItem': /new UpdateCommand\d*\(|\bUpdate: \{/,
  // S3 deletions have a `Delete` too, without a table name.
  'dynamodb:DeleteItem': /new DeleteCommand\d*\(|\bDelete: \{\s*TableName/,
  'dynamodb:ConditionCheckItem': /\bConditionCheck: \{/,
  's3:PutObject': /new (Upload|PutObjectCommand)\d*\(|\bcreatePresignedPost\d*\(/,
  's3:AbortMultipartUpload': /new Upload\d*\(/,
  's3:GetObject': /new GetObjectCommand\d*\(/,
  's3:DeleteObject': /new DeleteObjects?Command\d*\(/,
  's3:ListBucket': /new ListObjectsV2Command\d*\(/,
  'secretsmanager:DescribeSecret': /new DescribeSecretCommand\d*\(/,
  'secretsmanager:GetSecretValue': /new GetSecretValueCommand\d*\(|\bgetSecret\d*\(/,
  'secretsmanager:PutSecretValue': /new PutSecretValueCommand\d*\(/,
  'states:StartExecution': /new StartExecutionCommand\d*\(/,
  'states:DescribeExecution': /new DescribeExecutionCommand\d*\(/,
  'states:ListExecutions': /\bpaginateListExecutions\d*\(|new ListExecutionsCommand\d*\(/,
  'states:StopExecution': /new StopExecutionCommand\d*\(/,
  'states:SendTaskSuccess': /new SendTaskSuccessCommand\d*\(/,
  'cloudformation:DescribeStacks': /new DescribeStacksCommand\d*\(/,
  'lambda:GetAccountSettings': /new GetAccountSettingsCommand\d*\(/,
  'lambda:InvokeFunction': /new InvokeCommand\d*\(/,
  'bedrock:ApplyGuardrail': /new ApplyGuardrailCommand\d*\(/,
};

/** The actions that code uses. Throws for a command that is not listed above. */
export const actionsCalledIn = (code: string): string[] => {
  const signs = Object.values(ACTION_SIGNS);
  for (const [command] of code.matchAll(/new \w+Command\d*\(/g)) {
    const known = /TransactWriteCommand/.test(command) || signs.some((sign) => sign.test(command));
    if (!known) throw new Error(`Add ${command} to the actions known here.`);
  }
  return Object.keys(ACTION_SIGNS).filter((action) => ACTION_SIGNS[action]?.test(code));
};
