import { NO_REVISION } from '../../src/storage/revision.ts';
import { Births } from '../../src/verbs/incarnations.ts';

class NoBirths extends Births {
  override async before() {
    return NO_REVISION;
  }
}

/** No name ever had another owner. */
export const NO_BIRTHS: Births = new NoBirths({
  store: { get: async () => undefined },
  historyOf: () => {
    throw new Error('nothing is looked up');
  },
});
