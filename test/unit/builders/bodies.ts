/** The least body that creates an image. */
export const aGenerationBody = (overrides: Record<string, unknown> = {}): Record<string, unknown> => ({
  model: 'xQI3Pro',
  prompt: 'a lighthouse',
  endUserEmail: 'ada@example.com',
  ...overrides,
});

/** `count` image URLs. */
export const references = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => `https://images.example.com/${index}.png`);
