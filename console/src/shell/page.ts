/**
 * Page-wide features that load after the first render, bundled in one chunk: scroll restoration, link validation and
 * keyboard help.
 */
import '../lib/page/scrolled';

export { wrongParams } from '../lib/address/deep-link';
export { handleHelpKey } from './keys/help';
