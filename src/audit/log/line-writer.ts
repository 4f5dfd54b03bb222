/** Where lines of a log go. */
export interface LineWriter {
  /** Whole lines. Resolves when the operating system has them. @throws Error when it would not take them */
  write(text: string): Promise<void>;
  close(): Promise<void>;
}
