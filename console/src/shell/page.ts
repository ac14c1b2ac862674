/** What a page does without being asked, once there is time, and the help about its keys: one file for all of it. */
import '../lib/scrolled';

export { wrongParams } from '../lib/deep-link';
export { askKeys } from './keys/help';
