import { signal } from '@preact/signals';
import { withoutQuery } from '../make/file-rules.ts';
import { zipOf } from '../parts/zip.ts';
import { type AnyRecord, type Output, outputsOf } from '../state/record-rules.ts';
import { readOne, recordOf } from '../state/records.ts';

/** What is being downloaded: how many files of how many. */
export const downloading = signal<{ done: number; all: number } | undefined>(undefined);

/** The name of an output's file: its id, and the end of its URL. */
const fileNameOf = ({ id, url = '' }: Output): string =>
  `${id}${/\.\w+$/.exec(withoutQuery(url))?.[0] ?? ''}`;

interface StoredFile {
  record: AnyRecord;
  output: Output;
}

/** The files of these requests that can be had. */
const filesOf = (requestIds: readonly string[]): StoredFile[] =>
  requestIds.flatMap((id) => {
    const record = recordOf(id);
    if (!record) return [];
    return outputsOf(record).flatMap((output) => (output.url === undefined ? [] : [{ record, output }]));
  });

/** Reads a file; once more with a new URL when its host refuses the first one. Undefined when it cannot be had. */
const bytesOf = async ({ record, output }: StoredFile): Promise<Uint8Array | undefined> => {
  for (const isLast of [false, true]) {
    const url = outputsOf(recordOf(record.requestId) ?? record).find(({ id }) => id === output.id)?.url ?? '';
    const answer = await fetch(url).catch(() => undefined);
    if (answer?.ok) return new Uint8Array(await answer.arrayBuffer());
    if (!isLast) await readOne(record.requestId).catch(() => undefined);
  }
  return undefined;
};

const saveAs = (name: string, content: Blob): void => {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  // The browser has begun to read it by then.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
};

/** Downloads the files of requests, each by itself or as one archive. Resolves to what could not be had, in words. */
export const downloadAll = async (
  requestIds: readonly string[],
  isArchive: boolean,
): Promise<string | undefined> => {
  const files = filesOf(requestIds);
  if (files.length === 0) return 'None of these requests has a file.';
  const entries: { name: string; bytes: Uint8Array; at: Date }[] = [];
  let missing = 0;
  for (const [index, file] of files.entries()) {
    downloading.value = { done: index, all: files.length };
    const bytes = await bytesOf(file);
    if (!bytes) missing += 1;
    else if (isArchive)
      entries.push({ name: fileNameOf(file.output), bytes, at: new Date(file.record.createdAt) });
    else saveAs(fileNameOf(file.output), new Blob([bytes as BlobPart]));
  }
  downloading.value = undefined;
  if (entries.length > 0)
    saveAs('requests.zip', new Blob(zipOf(entries) as BlobPart[], { type: 'application/zip' }));
  return missing === 0 ? undefined : `${missing} of ${files.length} files could not be had.`;
};
