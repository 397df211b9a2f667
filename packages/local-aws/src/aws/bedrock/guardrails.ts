import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';

import type { Place } from '../arn.ts';
import type { Permission } from '../authorize.ts';
import { AwsError } from '../errors.ts';

type Json = Record<string, unknown>;

const APPLY_PATH = /^\/guardrail\/([^/]+)\/version\/([^/]+)\/apply$/;

/** The guardrail that an ApplyGuardrail request names. Throws `AwsError` for any other call. */
export const guardrailOf = (method: string, pathname: string): string => {
  const match = method === 'POST' ? APPLY_PATH.exec(pathname) : null;
  if (!match?.[1]) throw new AwsError('UnknownOperationException', `There is no ${method} ${pathname}`, 404);
  return decodeURIComponent(match[1]);
};

/** What ApplyGuardrail needs. */
export const guardrailPermissions = ({ region, accountId }: Place, guardrail: string): Permission[] => [
  {
    action: 'bedrock:ApplyGuardrail',
    resource: `arn:aws:bedrock:${region}:${accountId}:guardrail/${guardrail}`,
  },
];

/** Directives in a text that choose its verdict. */
const BLOCKED = '[guardrail=block]';
const MASKED = '[guardrail=mask]';

const textsOf = (body: Json): string[] =>
  (Array.isArray(body.content) ? (body.content as Json[]) : []).map(({ text }) => {
    const inner = (text as Json | undefined)?.text;
    if (typeof inner !== 'string')
      throw new AwsError('ValidationException', 'Only text content is judged here.');
    return inner;
  });

/** Judges texts like a guardrail with one denied topic and one masked kind of personal data. */
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
