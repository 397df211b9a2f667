import { readDocument } from './documents.ts';

/** The languages of the examples in docs/api.md, as its code blocks name them. */
export type ExampleLanguage = 'sh' | 'ts' | 'python';

/** The examples of docs/api.md in one language, in order. */
export const examplesIn = (language: ExampleLanguage): string[] =>
  [...readDocument('docs/api.md').matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'gms'))].map(
    ([, code = '']) => code,
  );
