package model

// Item is one row of a platform's menu. Items are created once and hidden while unused, so that an open menu can change.
type Item struct {
	ID        int32  // above 0, unique, in the order of the menu
	Label     string // plain text
	Disabled  bool
	Hidden    bool
	Separator bool
	Parent    int32 // the item whose submenu has this one; 0: none
}
