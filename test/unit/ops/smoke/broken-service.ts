import { runSmoke } from '../../../../ops/smoke/run-smoke.ts';
import { aFile, answer, type FakeService, IMAGE, noFile, refused, SILENT } from './a-service.ts';

/** The checks that fail against a service, with their sentences. */
export const failuresOf = async (service: FakeService): Promise<string[][]> =>
  (await runSmoke(service.smoke, SILENT))
    .filter(({ result }) => result === 'failed')
    .map(({ name, detail }) => [name, detail]);

/** Answers a call of the API so. */
export const reply =
  (call: string, ...given: Parameters<typeof answer>) =>
  ({ replies }: FakeService) => {
    replies[call] = () => answer(...given);
  };
/** Refuses a call of the API so. */
export const refuse =
  (call: string, ...given: Parameters<typeof refused>) =>
  ({ replies }: FakeService) => {
    replies[call] = () => refused(...given);
  };
/** Reads the image as this. */
export const image = (fields: object) =>
  reply(`GET /v1/generations/${IMAGE}`, 200, { requestId: IMAGE, ...fields });
/** Serves no file at a URL, with this status. */
export const serve =
  (url: string, status: number) =>
  ({ files }: FakeService) => {
    files[url] = () => noFile(status);
  };

/** A check, a fault that it must notice, how to make it, and what the check says. */
export type Case = [check: string, fault: string, make: (service: FakeService) => unknown, sentence: RegExp];

/** Serves this file at a URL. */
export const put =
  (url: string, ...given: Parameters<typeof aFile>) =>
  ({ files }: FakeService) => {
    files[url] = () => aFile(...given);
  };
