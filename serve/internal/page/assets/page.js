// What pages do with JavaScript. Without it, browsing, searching and downloading work all the same.
import {localTimes} from "./times.js";
import {startList} from "./list.js";
import {startKeys} from "./keys.js";
import {startActions} from "./actions.js";
import {startUploads} from "./uploads.js";
import {startSelecting} from "./select.js";
import {startLines} from "./lines.js";
import {startCopying} from "./copy.js";

document.documentElement.classList.add("scripted");
localTimes(document);
startList();
startKeys();
startActions();
startUploads();
startSelecting();
startLines();
startCopying();
