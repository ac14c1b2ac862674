/** What a page does without being asked, once there is time, and the help about its keys: one file for all of it. */
import '../lib/page/scrolled';

export { wrongParams } from '../lib/address/deep-link';
export { askKeys } from './keys/help';
