import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';

import type { Place } from '../arn.ts';
import type { Permission } from '../authorize.ts';
import { AwsError } from '../errors.ts';

type Json = Record<string, unknown>;

const APPLY_PATH = /^\/guardrail\/([^/]+)\/version\/([^/]+)\/apply$/;

/** The guardrail a request is for. Throws `AwsError` for any other call: no other one is made. */
export const guardrailOf = (method: string, pathname: string): string => {
  const match = method === 'POST' ? APPLY_PATH.exec(pathname) : null;
  if (!match?.[1]) throw new AwsError('UnknownOperationException', `There is no ${method} ${pathname}`, 404);
  return decodeURIComponent(match[1]);
};

/** What applying a guardrail takes. */
export const guardrailPermissions = ({ region, accountId }: Place, guardrail: string): Permission[] => [
  {
    action: 'bedrock:ApplyGuardrail',
    resource: `arn:aws:bedrock:${region}:${accountId}:guardrail/${guardrail}`,
  },
];

/** What a text may carry to be judged as the sandbox providers' directives are: `[guardrail=block]`, `[guardrail=mask]`. */
const BLOCKED = '[guardrail=block]';
const MASKED = '[guardrail=mask]';

const textsOf = (body: Json): string[] =>
  (Array.isArray(body.content) ? (body.content as Json[]) : []).map(({ text }) => {
    const inner = (text as Json | undefined)?.text;
    if (typeof inner !== 'string')
      throw new AwsError('ValidationException', 'Only text content is judged here.');
    return inner;
  });

/** Judges texts as a guardrail with one denied topic and one masked kind of personal data would. */
export const applyGuardrail = (body: Json): Json => {
  const texts = textsOf(body);
  const blocked = texts.some((text) => text.includes(BLOCKED));
  const masked = texts.some((text) => text.includes(MASKED));
  const topic = { name: 'denied', type: 'DENY', action: 'BLOCKED' };
  const personal = { type: 'NAME', match: 'somebody', action: 'ANONYMIZED' };
  return {
    action: blocked || masked ? 'GUARDRAIL_INTERVENED' : 'NONE',
    outputs: blocked ? [{ text: 'Blocked.' }] : masked ? texts.map((text) => ({ text })) : [],
    assessments: [
      {
        ...(blocked ? { topicPolicy: { topics: [topic] } } : {}),
        ...(masked ? { sensitiveInformationPolicy: { piiEntities: [personal], regexes: [] } } : {}),
      },
    ],
    usage: { topicPolicyUnits: 1 },
  };
};

/** Answers in the REST JSON protocol. */
export const sendRestJson = (response: ServerResponse, body: Json): void => {
  response.writeHead(200, { 'content-type': 'application/json', 'x-amzn-requestid': randomUUID() });
  response.end(JSON.stringify(body));
};
