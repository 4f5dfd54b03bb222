import type { Minor } from '../../api/emulation.ts';

/** What a thread that shapes objects begins with. */
export interface ShapingStart {
  readonly work: 'shaping';
  readonly minor: Minor;
  /** The definitions of custom resources, as they are stored. */
  readonly definitions: readonly Uint8Array[];
}

/** Whether the thread was begun with this. */
export const isShapingStart = (data: { readonly work?: string }): data is ShapingStart =>
  data.work === 'shaping';
