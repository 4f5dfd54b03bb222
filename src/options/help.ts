import type { Section } from './all-flags.ts';
import type { Flag } from './flag.ts';

const WIDTH = 100;
const INDENT = 8;

/** The text of --help: how to call it, then every flag under its heading with type and default. */
export function formatHelp(sections: readonly Section[]): string {
  const lines = [
    'pg-apiserver: a Kubernetes-compatible API server whose only state is PostgreSQL.',
    '',
    'Usage:',
    '  pg-apiserver [flags]            serve',
    '  pg-apiserver migrate [flags]    bring the database up to date and end',
    '                                  --list: show the migrations; --dry-run: show what would be applied; --to=31: end with that one',
    '                                  --roles[=apiserver]: make the roles apiserver_migrator, _server and _reader, or three names',
    '  pg-apiserver rotate-signing-key [after] [flags]',
    '                                  sign service account tokens with a new key, in 5s or so long after; old tokens stay good',
    '  pg-apiserver list-signing-keys [flags]',
    '  pg-apiserver drop-signing-key id [flags]',
    '                                  end the tokens that an old key signed',
    '',
    'Without --kvstore-servers an embedded PostgreSQL is started in --data-dir.',
  ];
  for (const { heading, flags } of sections) lines.push('', `${heading}:`, ...flags.flatMap(formatFlag));
  return `${lines.join('\n')}\n`;
}

function formatFlag(flag: Flag): string[] {
  const type = flag.type === 'bool' ? '' : ` ${flag.type}`;
  const hasDefault = flag.default !== undefined && flag.default !== '' && String(flag.default) !== '';
  const fallback = hasDefault ? ` (default ${String(flag.default)})` : '';
  const note = flag.isEffective ? '' : ' [accepted at its default only]';
  const dashes = flag.name.length === 1 ? '-' : '--';
  const paragraphs = `${flag.meaning}${fallback}${note}`.split('\n');
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
