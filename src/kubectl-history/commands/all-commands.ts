import type { Command } from '../session.ts';
import { blame } from './blame.ts';
import { completion } from './completion.ts';
import { console } from './console.ts';
import { deleted } from './deleted.ts';
import { diff } from './diff.ts';
import { log } from './log.ts';
import { restore } from './restore.ts';
import { show } from './show.ts';
import { undo } from './undo.ts';
import { who } from './who.ts';
import { why } from './why.ts';

/** In the order of help. */
export const COMMANDS: readonly Command[] = [
  ...[log, diff, blame, why, show, who, deleted],
  ...[undo, restore],
  ...[console, completion],
];
