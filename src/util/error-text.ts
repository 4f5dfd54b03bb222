/** The message of an error, without its cause and stack; the text of any other thrown value. */
export const errorText = (error: unknown): string => (error instanceof Error ? error.message : String(error));
