/** The construct id of a kebab-case name: `get-video` becomes `GetVideo`. */
export const pascalCase = (kebab: string): string =>
  kebab.replace(/(^|-)(\w)/g, (_match, _dash, letter: string) => letter.toUpperCase());
