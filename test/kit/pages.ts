import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The pages for users, whose commands and queries tests run. */
export const OPERATORS = 'migrations/README.md';
export const HISTORY = 'src/history/README.md';
export const FIGURES = 'test/bench/README.md';
export const PAGES = ['README.md', OPERATORS, HISTORY, FIGURES] as const;
export type Page = (typeof PAGES)[number];

export interface Block {
  readonly page: Page;
  /** What stands behind the backquotes: sql, sh, console; empty for a picture. */
  readonly language: string;
  /** Without the indentation that it has in a list. */
  readonly text: string;
}

export const readPage = (page: string): string =>
  readFileSync(fileURLToPath(new URL(`../../${page}`, import.meta.url)), 'utf8');

/** In the order of the page. @throws Error for a block that is not closed as it was opened */
export function blocksOf(page: Page): Block[] {
  const text = readPage(page);
  const found = [...text.matchAll(/^( *)```(.*)\n([\s\S]*?)^\1```$/gm)].map(
    ([, indent = '', language = '', body = '']): Block => ({
      page,
      language,
      text: body.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
    }),
  );
  const fences = text.match(/^ *(```|~~~)/gm)?.length ?? 0;
  if (fences !== 2 * found.length) throw new Error(`${page}: a block is not closed as it was opened`);
  return found;
}

/**
 * The commands of a page, without what they are explained by.
 *
 *     commandsOf('README.md') → ['npm start', …]
 */
export const commandsOf = (page: Page): string[] =>
  blocksOf(page)
    .filter(({ language }) => language === 'sh')
    .flatMap(({ text }) => text.replaceAll(/\\\n\s*/g, '').split('\n'))
    .map((line) => line.replace(/(^|\s+)# .*$/, ''))
    .filter((line) => line !== '');

/**
 * Moments that a page names, which are long ago for a test.
 *
 *     withMoment("cluster_at('2026-11-21 09:00')", 'now') → "cluster_at('now')"
 */
export const withMoment = (text: string, moment: string): string =>
  text.replaceAll(/\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\dZ)?/g, moment);
