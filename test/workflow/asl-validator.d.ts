/** The part of the package that the tests use: it ships without types. */
declare module 'asl-validator' {
  interface ValidationResult {
    isValid: boolean;
    errorsText(separator?: string): string;
  }
  const validate: (definition: unknown) => ValidationResult;
  export default validate;
}
