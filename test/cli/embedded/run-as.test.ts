import { expect, test } from 'vitest';
import { run } from '../../../src/cli/embedded/run-as.ts';

test('a program that fails is reported with the error that it names, or with its last line', async () => {
  const fail = (text: string): Promise<void> => run('sh', ['-c', `printf '${text}' >&2; exit 1`], undefined);
  await expect(
    fail('starting\\nFATAL:  could not write: No space left on device\\ninitdb: removing contents\\n'),
  ).rejects.toThrow('sh failed: FATAL:  could not write: No space left on device');
  await expect(fail('one\\ntwo\\n')).rejects.toThrow('sh failed: two');
});
