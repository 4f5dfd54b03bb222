import type { CelProgram } from '../program.ts';

/** An expression ready to run, or why it never will. */
export type Compiled =
  | { readonly expression: string; readonly program: CelProgram }
  | { readonly expression: string; readonly program: undefined; readonly problem: string };
