import type { Group } from '../bench.ts';
import { get } from './get.ts';
import { list } from './list.ts';

export const GROUPS: readonly Group[] = [get, list];
