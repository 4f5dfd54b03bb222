import { toVersion } from '../api/emulation.ts';
import type { Section } from './all-flags.ts';
import type { Flag } from './flag.ts';

const WIDTH = 100;
const INDENT = 8;

/** How a command is called, and what it does: one line or several. */
export interface CommandUsage {
  readonly name: string;
  /** What it takes before flags, such as `[reason]`. */
  readonly words: string;
  readonly meaning: readonly string[];
  /** Takes no flags. */
  readonly isFlagless?: true;
}

/** The text of --help: how to call it, then every flag under its heading with type and default. */
export function formatHelp(sections: readonly Section[], commands: readonly CommandUsage[]): string {
  const serving = { name: '', words: '', meaning: ['serve'] };
  const lines = [
    'pg-apiserver: a Kubernetes-compatible API server whose only state is PostgreSQL.',
    '',
    'Usage:',
    ...[serving, ...commands].flatMap(formatCommand),
    '',
    'Without --kvstore-servers an embedded PostgreSQL is started in --data-dir.',
  ];
  return toText([...lines, ...sections.flatMap(formatSection)]);
}

/** The text of --help behind a command: what it does, and the flags that it alone has. */
export function formatCommandHelp(command: CommandUsage, sections: readonly Section[]): string {
  const serverFlags = 'Flags of the server, such as --kvstore-servers and --data-dir: pg-apiserver --help';
  return toText([
    ...['Usage:', ...formatCommand(command)],
    ...sections.flatMap(formatSection),
    ...(command.isFlagless === true ? [] : ['', serverFlags]),
  ]);
}

const toText = (lines: readonly string[]): string => `${lines.join('\n')}\n`;

const formatSection = ({ heading, flags }: Section): string[] => [
  ...['', `${heading}:`],
  ...flags.flatMap(formatFlag),
];

/** As it is typed, and what it does below that. */
function formatCommand({ name, words, meaning, isFlagless }: CommandUsage): string[] {
  const flags = isFlagless === true ? '' : '[flags]';
  const call = ['  pg-apiserver', name, words, flags].filter((word) => word !== '').join(' ');
  return [call, ...meaning.flatMap(wrap)];
}

function formatFlag(flag: Flag): string[] {
  const type = flag.type === 'bool' ? '' : ` ${flag.type}`;
  const hasDefault = flag.default !== undefined && flag.default !== '' && String(flag.default) !== '';
  const fallback = hasDefault ? ` (default ${String(flag.default)})` : '';
  const life = flag.since === undefined ? '' : `; since ${toVersion(flag.since)}`;
  const note = flag.isEffective ? '' : ' [accepted at its default only]';
  const dashes = flag.name.length === 1 ? '-' : '--';
  const paragraphs = `${flag.meaning}${life}${fallback}${note}`.split('\n');
  return [`    ${dashes}${flag.name}${type}`, ...paragraphs.flatMap(wrap)];
}

function wrap(text: string): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && INDENT + line.length + word.length + 1 > WIDTH) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line].map((one) => `${' '.repeat(INDENT)}${one}`);
}
