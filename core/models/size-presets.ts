/** Values of `aspectRatio`, the same for every image model. */
export const ASPECT_RATIOS = ['auto', 'square', 'landscape', 'portrait'] as const;

/** Size presets, each with the side of its square in pixels. */
export const PRESET_SIDE_PIXELS = { '1K': 1024, '1.5K': 1536, '2K': 2048, '4K': 4096 } as const;
export type SizePreset = keyof typeof PRESET_SIDE_PIXELS;
