import type { ServerResponse } from 'node:http';

const ESCAPES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};
const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** Escapes text for an XML element; control characters become character references. */
export const escapeXml = (text: string): string =>
  text
    .replace(/[&<>"']/g, (character) => ESCAPES[character] ?? character)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: a key may hold them, and XML must not
    .replace(/[\u0000-\u001f]/g, (character) => `&#${character.charCodeAt(0)};`);

const unescapeXml = (text: string): string =>
  text.replace(/&(#x[0-9a-f]+|#\d+|\w+);/gi, (whole, entity: string) => {
    if (entity.startsWith('#x')) return String.fromCodePoint(Number.parseInt(entity.slice(2), 16));
    if (entity.startsWith('#')) return String.fromCodePoint(Number(entity.slice(1)));
    return ENTITIES[entity] ?? whole;
  });

/** The texts of all elements of this name, unescaped. Reads flat documents only, as S3's request bodies are. */
export const elementTexts = (xml: string, name: string): string[] =>
  [...xml.matchAll(new RegExp(`<${name}>([\\s\\S]*?)</${name}>`, 'g'))].map((match) =>
    unescapeXml(match[1] ?? ''),
  );

/** An element with escaped text; empty when there is no text. */
export const element = (name: string, text: string | number | boolean | undefined): string =>
  text === undefined ? '' : `<${name}>${escapeXml(String(text))}</${name}>`;

/** Answers with an XML document. */
export const sendXml = (response: ServerResponse, status: number, xml: string): void => {
  const text = `<?xml version="1.0" encoding="UTF-8"?>\n${xml}`;
  response.writeHead(status, {
    'content-type': 'application/xml',
    'content-length': Buffer.byteLength(text),
  });
  response.end(text);
};

/** Answers with an error in S3's shape. A HEAD request gets no body. */
export const sendXmlError = (
  response: ServerResponse,
  error: { code: string; message: string; status: number },
): void =>
  sendXml(
    response,
    error.status,
    `<Error>${element('Code', error.code)}${element('Message', error.message)}</Error>`,
  );
