/** The smallest body that creates an image. */
export const aGenerationBody = (overrides: Record<string, unknown> = {}): Record<string, unknown> => ({
  model: 'xQI3Pro',
  prompt: 'a lighthouse',
  endUserEmail: 'ada@example.com',
  ...overrides,
});

/** `count` image URLs. */
export const references = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => `https://images.example.com/${index}.png`);

/** The smallest body that creates a video. */
export const aVideoBody = (overrides: Record<string, unknown> = {}): Record<string, unknown> => ({
  model: 'xW3.0s',
  prompt: 'waves',
  endUserEmail: 'ada@example.com',
  ...overrides,
});

/** `count` URLs with this file extension. */
export const urlsOf = (extension: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `https://media.example.com/${index}.${extension}`);
