/** What a page does without being asked, once there is time: one file for all of it. */
import '../lib/scrolled';
import './keys/help';

export { wrongParams } from '../lib/deep-link';
