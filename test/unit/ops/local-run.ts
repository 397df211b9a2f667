import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect } from '@jest/globals';
import type { Streams } from '../../../ops/verb.ts';
import { type Outcome, runCommandOn } from './run-command.ts';

const arn = (machine: string): string => `arn:aws:states:us-east-1:111122223333:stateMachine:${machine}`;
const OUTPUTS = {
  BaseUrl: 'https://api.example.com',
  BucketName: 'bucket',
  GenerationStateMachineArn: arn('generation'),
  ExpiryStateMachineArn: arn('expiry'),
  WebhookDeliveryStateMachineArn: arn('webhook-delivery'),
  DeliverWebhookFunctionArn: 'arn:aws:lambda:us-east-1:111122223333:function:deliver-webhook',
  VerifyLedgersStateMachineArn: arn('verify-ledgers'),
  ImageDeadlineSeconds: '600',
  VideoDeadlineSeconds: '3600',
  WebhookRetrySeconds: '5,300',
  ModelRoutes: '{}',
};

/** Runs commands in this process, against mocked AWS clients. */
export interface LocalRun {
  ops(...args: string[]): Promise<Outcome>;
  /** Runs a command on a terminal, or with other means. */
  opsOn(streams: Partial<Streams>, ...args: string[]): Promise<Outcome>;
  /** Runs a command that must succeed; returns its `--json` value. */
  json(...args: string[]): Promise<unknown>;
}

/** Writes a `local.json` for each test of a file, with further `outputs`. The AWS clients must be mocked. */
export const describeLocalRun = (outputs: Record<string, string> = {}): LocalRun => {
  const shell = { ...process.env };
  let dataDirectory: string;
  beforeEach(() => {
    dataDirectory = mkdtempSync(join(tmpdir(), 'ops-unit-'));
    const run = {
      pid: process.pid,
      awsEndpointUrl: 'http://127.0.0.1:1',
      tableName: 'table',
      operatorAccessKeyId: 'key',
      operatorSecretAccessKey: 'secret',
      outputs: { ...OUTPUTS, ...outputs },
    };
    writeFileSync(join(dataDirectory, 'local.json'), JSON.stringify(run));
  });
  afterEach(() => {
    rmSync(dataDirectory, { recursive: true });
    process.env = { ...shell };
  });
  const opsOn = (streams: Partial<Streams>, ...args: string[]) =>
    runCommandOn(streams, ...args, '--data-dir', dataDirectory);
  const ops = (...args: string[]) => opsOn({}, ...args);
  return {
    ops,
    opsOn,
    async json(...args) {
      const { status, stdout, stderr } = await ops(...args, '--json');
      expect([status, stderr]).toEqual([0, '']);
      return JSON.parse(stdout);
    },
  };
};
